"""Schedules for circuits: words fork and join in the routers (docs/router.md, section 23)."""
