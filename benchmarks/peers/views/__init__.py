"""A chain of views put to other programs, and questions that stand on the last of them."""
