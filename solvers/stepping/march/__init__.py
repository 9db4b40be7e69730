"""From step to step: event schedule, step sizes, subdivision, switches and crossings."""
