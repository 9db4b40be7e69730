"""Lobatto IIIA-IIIB pairs with contacts."""
