"""Pictures of schedules, links, places, costs and latencies."""

PICTURES = (".svg", ".pdf", ".png")
"""Suffixes of pictures: here, where nothing is drawn, for commands that only look at names."""

BOTH = (".svg", ".png")
"""Suffixes of the pictures that a command writes unless it is given a name."""
