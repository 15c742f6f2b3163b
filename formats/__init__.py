"""Foreign formats of networks, schedules and traffic: a file for each, and the registry."""
