"""Standing SQL questions over changing data, for a million subscribers at once."""
