"""The outside world: Kafka, record formats, HTTP. The only room that imports a client or a server library."""
