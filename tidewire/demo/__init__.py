"""Demonstrations, most of them on real data; each ends with an independent verification of every delivery."""
