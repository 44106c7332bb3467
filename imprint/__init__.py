"""imprint: a just-in-time compiler for array programs."""
