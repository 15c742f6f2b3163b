"""Images: what is written through the host port of a network to load a program."""
