"""Whose turn it is: claims, epochs, the progress of batches, catalogs in force, the identity of topics."""
