"""The zoo: seeded bugs, each caught by the invariant named for it."""
