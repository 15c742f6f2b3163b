"""The register map of an engine behind a bus, in SystemRDL, and files made from it."""
