"""What a stack is doing, and what a machine lacks for one."""
