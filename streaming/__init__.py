"""The Spark job: the pipeline's pure stages, the adapter that runs them in a stateful query, epochs and progress."""
