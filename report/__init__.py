"""The page: runs as one HTML file, in which they are watched without a network."""
