"""What benchmarks/peers.py is made of: the environment, one process for each implementation, measurement, reports."""
