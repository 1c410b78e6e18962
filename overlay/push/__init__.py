"""Answers over HTTP as they change: who listens, what waits for them, and how a stream goes on after a break."""
