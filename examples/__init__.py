"""Chips built around an Eyecast network."""
