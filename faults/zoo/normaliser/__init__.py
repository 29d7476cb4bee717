"""Seeded bugs of normalisers."""
