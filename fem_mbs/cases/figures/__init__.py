"""Figures of published cases: quantities over time with every method of a case, next to numbers that sources print."""
