"""Texts of statements: tokens, names, options, errors with their place."""
