"""Manifests: what a trace read, so that another process need not trace again.

- `trace_manifest`: how is the manifest of a call kept, found and compared?
- `locations`: what did a trace read, as plain data?
- `stable_hash`: which digest of a value is the same in every process?
- `impure`: which objects give something else in each process?
- `environment_key`: in which environment does a trace hold?
- `file_digests`: what is in a file, if it changed?
- `assumptions`: which inputs did the user declare?
- `shardings`: what is a device, a mesh or a sharding as plain data?
- `trees`: what is a tree of results as plain data?
- `sizes`: what is a size that has a name as plain data?
- `diff`: what is the first difference between the disk and a call, in words?
- `lazy_program`: what are the jaxpr and the text of a program that was loaded?
- `not_cacheable`: why is a trace not kept, and what is to be done about it?
"""
