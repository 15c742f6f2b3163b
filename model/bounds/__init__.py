"""Lower bounds on the cycles of any schedule, from hops, ports and cuts."""
