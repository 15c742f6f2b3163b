"""Pictures of schedules, links, places, costs and latencies."""
