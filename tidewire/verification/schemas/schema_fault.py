"""What is wrong with a schema, be it listed or of a registry."""

from __future__ import annotations


class NoSchema(Exception):
    """A text is no schema, or none that says what is needed; or a registry has none of that number."""
