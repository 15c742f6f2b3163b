"""Floor 2: router, network interface and network in Amaranth, written to docs/router.md."""
