"""The Python client, and what it reads: deliveries, acknowledgements, progress."""
