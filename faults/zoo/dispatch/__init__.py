"""Seeded bugs of dispatch queues."""
