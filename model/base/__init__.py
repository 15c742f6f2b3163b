"""Ground that everything stands on: refusals, files, notices to those who wait, compiled loops."""
