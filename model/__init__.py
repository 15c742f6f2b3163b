"""Floor 1: topologies, schedules, programs, the cycle model, traces. No hardware, no simulator."""
