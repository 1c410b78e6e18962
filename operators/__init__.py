"""What a shard does to a batch, pure: one file an operator, and the messages they emit. No I/O, clock or Spark."""
