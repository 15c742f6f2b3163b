"""Traffic: many packets, drawn at random or read from a file, as a program of timed rows."""
