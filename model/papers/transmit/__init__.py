"""A host transmits a message to all nodes (Ho, Hsu & Sung 1996); also known as graph burning."""
