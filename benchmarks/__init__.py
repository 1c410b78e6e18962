"""Benchmarks: what each part costs, and what the whole costs against the least that Spark and Kafka ask for."""
