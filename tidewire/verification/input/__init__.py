"""Publications as the declaration reads them: each format, and the order of changes."""
