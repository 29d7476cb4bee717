"""Invariants of any subject: that a run of it ends in a way that can be judged."""
