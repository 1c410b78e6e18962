"""How many values of one kind are kept side by side: growing columns, texts end to end, tables of keys."""
