"""The page: runs as one HTML file, which shows them in a browser without a network connection."""
