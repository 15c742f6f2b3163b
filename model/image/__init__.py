"""Images: the words that a host writes through the host port to load a program."""
