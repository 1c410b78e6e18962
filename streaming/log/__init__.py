"""The query that writes every publication to a Delta table, and that table's upkeep."""
