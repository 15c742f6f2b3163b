"""A host that transmits to all: Ho, Hsu & Sung, known as graph burning too."""
