"""The least cycles that any schedule could take, from hops, ports and cuts."""
