"""The structures a shard and an edge are made of: order codes, row store, A2B-tree. No I/O, no SQL, no column names."""
