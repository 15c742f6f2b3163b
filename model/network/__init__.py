"""Networks: topology, faults, routes and configuration."""
