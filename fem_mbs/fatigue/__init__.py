"""Fatigue from histories of stresses: rainflow counting, S-N curves, damage."""
