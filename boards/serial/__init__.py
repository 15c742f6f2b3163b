"""The serial line between a board and the computer: frames, both ends, and the network."""
