"""Parts of both kinds of routers and interfaces: links, ports, memories, the host port."""
