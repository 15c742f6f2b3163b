"""Certificates of programs: what a program promises, for checkers that share no code with it."""
