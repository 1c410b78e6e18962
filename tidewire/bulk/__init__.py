"""Many at a time: rows to publish, and subscriptions from a file, each with a place to go on from."""
