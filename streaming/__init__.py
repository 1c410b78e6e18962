"""The Spark job: the queries, epochs and their progress, checkpoints, the engine that keeps them running, the log."""
