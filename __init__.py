"""waitproof: a property-based correctness and fault-injection harness for job waiters and dispatch queues."""
