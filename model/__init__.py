"""Floor 1: topologies, schedules, programs, the cycle model and traces. No hardware, no simulator."""
