"""Programs that stop at one name that is not there yet, each with that name.

When the name comes, its program belongs in `programs`; a test says so.
"""

WAITING = {}
