"""The Spark query `match`: its source, the way records take to their shard and back, its session and its run."""
