"""The disk cache: compiled programs and manifests for later processes.

It knows keys and bytes, not their meaning, and raises nothing in user calls: a failed read
is a miss, a failed write is dropped, and one warning says so. The first compilation loads
it; `import imprint` does not.

- `current`: the store of this process
- `store`: reading and writing of entries, locks between processes
- `entry`: the format, digests and signatures of entries
- `files`: trusted files and folders, atomic writes
- `eviction`: listing and eviction
- `remote`: remote entries through fsspec
"""
