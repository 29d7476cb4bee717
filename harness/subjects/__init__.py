"""The built-in subjects (waiter, normaliser, client, dispatch queue) and the adapters to other people's.

The built-in ones are production code to copy: they import the standard library, httpx, httpcore and anyio,
and nothing from the rest of waitproof.
"""
