"""Traffic of many packets, drawn or read, as a program of timed rows."""
