"""What is declared: DDL becomes relations, subscription SQL becomes compiled subscriptions of a shape. No I/O."""
