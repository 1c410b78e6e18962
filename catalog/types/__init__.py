"""The types of columns, and what values and literals of each are."""
