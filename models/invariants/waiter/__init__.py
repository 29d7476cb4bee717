"""Invariants of waiters, one idea a file. Each file defines ``INVARIANTS``."""
