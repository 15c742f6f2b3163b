"""The cycle model: predicts a run, cycle for cycle, from docs/router.md alone."""
