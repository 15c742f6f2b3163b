"""Requests, and the declarations in which algorithms list the requests that they serve."""
