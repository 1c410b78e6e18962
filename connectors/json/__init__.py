"""JSON rows, exactly: scanned in bulk by compiled kernels, or read one by one, and written."""
