"""The interpreters of programs, one per file, and the transforms that users call."""
