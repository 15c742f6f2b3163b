"""The first noun: a network, which is a topology, its faults and its configuration."""
