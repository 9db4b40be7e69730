"""Stresses and strains of solids, shells and reduced bodies, recovered from saved states."""
