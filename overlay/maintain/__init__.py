"""From a batch of messages to the answers that changed, and to what is told of it."""
