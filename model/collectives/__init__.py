"""Algorithms that make schedules, by family, and the registry that knows them by name."""
