"""An edge's process: its part of the consumer group, its transactions, and what HTTP asks of it."""
