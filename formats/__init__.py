"""Foreign formats of networks, schedules and traffic: a module for each, and the registry."""
