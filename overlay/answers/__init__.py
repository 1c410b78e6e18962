"""What an edge keeps of answers, of each form, and how they are put together and written as text."""
