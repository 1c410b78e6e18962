"""One virtual edge: the state machine that everything else here serves."""
