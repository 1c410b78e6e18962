"""What a shard of a table does with a batch, pure: order, decode, resolve, apply, route, encode."""
