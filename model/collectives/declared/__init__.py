"""Requests, and the algorithms' declarations of what they serve."""
