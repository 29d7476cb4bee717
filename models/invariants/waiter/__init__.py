"""Invariants of waiters and their clients (SPEC 5), one family a file."""
