"""Reads the Delta table of publications."""
