"""The same standing questions put to other engines; `python -m benchmarks.peers`, see docs/peers.md."""
