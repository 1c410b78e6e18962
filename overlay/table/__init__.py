"""The columns of an edge's subscriptions, one row (a slot) each: ids, statements, constants, options."""
