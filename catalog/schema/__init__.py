"""What is declared: tables, their options, and how they may change."""
