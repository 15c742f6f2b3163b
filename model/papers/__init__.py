"""Studies of papers that no network runs: cost formulas, and a host that transmits to all."""
