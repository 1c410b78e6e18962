"""The commands of the command line, one file each; `tidewire/cli.py` registers them."""
