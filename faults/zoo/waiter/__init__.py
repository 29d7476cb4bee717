"""Seeded bugs of waiters and their clients."""
