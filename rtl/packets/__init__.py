"""The wormhole router and its network interface: router.md, sections 2 to 20."""
