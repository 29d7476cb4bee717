"""The bench: vocabulary, virtual time, the campaign runner, result files, and the subjects. Imports nothing else of this project."""
