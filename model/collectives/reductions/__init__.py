"""Reductions: schedules whose sends combine, made of those that copy and by exchanges."""
