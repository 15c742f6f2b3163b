"""Schedules: the sends of each step, their proof and their measures."""
