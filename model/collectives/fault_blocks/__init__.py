"""Broadcast round fault blocks: Jiang & Wu."""
