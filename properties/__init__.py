"""The suites, the pytest plugin that runs them, and the command that searches them."""
