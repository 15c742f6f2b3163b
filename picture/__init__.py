"""Pictures of schedules, links, places, costs and latencies."""

PICTURES = (".svg", ".pdf", ".png")
"""Suffixes of pictures: here, where nothing is drawn, for commands that only look at names."""
