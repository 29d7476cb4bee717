"""The server under test and the ways to it: sans-I/O job server, simulated transports, simulated network, recording, and the world."""
