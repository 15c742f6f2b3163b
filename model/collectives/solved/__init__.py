"""Schedules that a solver proves to be the best of all schedules of some kind."""
