"""The benchmarks: an asv suite, and `python -m benchmarks` for imprint beside JAX."""
