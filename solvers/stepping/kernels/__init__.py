"""Compiled parts of a step: data, records, Newton's iteration, checks and acceptance."""
