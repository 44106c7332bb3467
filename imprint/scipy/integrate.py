"""What `jax.scipy.integrate` has: the area under points, which is that of NumPy."""



__all__ = [
,
]
