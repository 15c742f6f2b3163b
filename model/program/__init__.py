"""Programs: the injection tables of all nodes, compiled from a schedule and proved."""
