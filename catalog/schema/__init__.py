"""What is declared, as values: tables, streams, joins, cells and views, and the formats of their records."""
