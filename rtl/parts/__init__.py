"""What both kinds of routers and interfaces are made of: links, ports, memories, the host port."""
