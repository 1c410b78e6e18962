"""Default settings, pinned jars with checksums, Spark and broker properties; read as package resources."""
