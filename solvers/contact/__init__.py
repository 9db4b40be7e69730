"""Contacts in a time step: law, rows, sweep, link to the contact problem."""
