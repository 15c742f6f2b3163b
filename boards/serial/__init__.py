"""The serial line between a board and the computer: frames, both ends, the network behind it."""
