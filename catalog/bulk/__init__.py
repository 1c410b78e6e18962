"""The same for many statements at a time."""
