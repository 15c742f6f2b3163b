"""Errors, files, notices, compiled loops: what every other part of the package builds on."""
