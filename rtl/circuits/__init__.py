"""The router whose table is the schedule, and its interface: router.md, section 23."""
