"""Invariants of normalisers (SPEC 3 and 5), one family a file."""
