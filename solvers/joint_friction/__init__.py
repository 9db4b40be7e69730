"""Set-valued joint friction of the decoupled scheme."""
