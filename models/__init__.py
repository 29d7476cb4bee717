"""Executable specifications: reference models, and the invariant catalogue as pure functions over histories."""
