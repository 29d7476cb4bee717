"""The adversary: fault plans and their strategies, servers under test, simulated networks, the zoo of seeded bugs."""
