"""What stands in tidewire's own topics, read for the verification: subscriptions and what came of them."""
