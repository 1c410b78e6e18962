"""The packed records, a kind a module: what stands in their columns, how they are written and read."""
