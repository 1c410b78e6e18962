"""What should have been answered: histories of rows as intervals, and DuckDB over them."""
