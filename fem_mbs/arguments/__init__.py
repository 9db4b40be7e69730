"""Checks of arguments: values, frames, spelling, and the messages of their errors."""
