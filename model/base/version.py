"""The version of Eyecast."""

__version__ = "0.1.0"
