"""The implementation, from the ground up; nothing here is public.

- `jit`: what is a compiled function made of?
"""
