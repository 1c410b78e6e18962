"""What stands in a checkpoint, on any file system."""
