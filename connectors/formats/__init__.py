"""A record of each format as a row, or as a dead letter."""
