"""The store: compiled programs on the disk, for processes to come.

It knows keys and bytes, not what they mean, and nothing in it raises in the user's call:
what cannot be read is a miss, what cannot be written is left, and a warning says so once.
It is loaded by the first compilation: `import imprint` does not read it.

- `entry`: how is one entry sealed, and how is it known to be whole?
- `signing`: who made an entry, where others can write?
- `folder`: which directory is the store's, and may it be trusted?
- `files`: how is a file read and written so that nobody sees half of it?
- `single_flight`: which of many processes compiles, while the others wait?
- `eviction`: what is in a folder, and what goes when it is too much?
- `remote`: how is a place far away asked without waiting for it?
- `store`: what is under a key?
- `current`: which store does this process use?
"""
