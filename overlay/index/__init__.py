"""Finds the subscriptions that a message names: by range attribute and group, in trees of points."""
