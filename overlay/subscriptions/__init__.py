"""The subscriptions of one virtual edge: kept, registered at the shards, summarised, ended, restored."""
