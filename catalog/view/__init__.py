"""How the query of a CREATE VIEW becomes stages: names, types by bound, keys, buckets; and its canonical text."""
