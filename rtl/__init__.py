"""Floor 2: the router, the network interface and the network in Amaranth, written to docs/router.md."""
