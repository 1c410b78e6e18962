"""Schemas that do not stand in the declaration: registries, listed versions, frames before a value."""
