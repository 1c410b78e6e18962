"""Avro and Protobuf schemas, from where the declaration or a registry has them."""
