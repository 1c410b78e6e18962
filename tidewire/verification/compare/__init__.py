"""What was told against what should have been, and the findings."""
