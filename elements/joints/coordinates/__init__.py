"""Joint coordinates, and what acts along them: springs, stops, friction, motors, drivers, locks."""
