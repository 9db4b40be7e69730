"""Ways of equilibria: Newton's iteration, load steps, arc length, critical points, branches."""
