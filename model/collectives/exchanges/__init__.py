"""Collectives by partners far apart, on any network: their paths are dealt to steps."""
