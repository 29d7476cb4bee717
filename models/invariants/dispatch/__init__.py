"""Invariants of dispatch queues (SPEC 4 and 5, 'Dispatch')."""
