"""What time steppers share."""
