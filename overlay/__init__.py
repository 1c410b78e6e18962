"""Edges: subscription indexes, virtual edges and what they deliver. Never imports Spark."""
