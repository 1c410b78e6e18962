"""The embedded stack: jars, the broker, and the supervisor that runs broker, engine and edges as one group."""
