"""Chips that are built around an Eyecast network."""
