"""The register map of an engine behind a bus, in SystemRDL, and what is made from it."""
