"""Operators of views: each makes the changes of one relation of those of its inputs, cause by cause."""
