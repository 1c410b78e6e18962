"""`python -m tidewire`: the command line, for processes that start it with their own interpreter."""

from tidewire.cli import main

main()
