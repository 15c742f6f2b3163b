"""Broadcast on any connected network in the fewest steps."""
