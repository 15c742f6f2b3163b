"""The second noun: a schedule, which is the sends of each step, proved and measured."""
