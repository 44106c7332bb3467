"""Manifests: what a trace read, so that another process need not trace again.

- `manifest`: which program would a trace of this call give?
- `differs`: what is the first difference between what was kept and now?
- `facts`: what is a call made of, in words?
- `reader`: what is a value, for another process?
- `anchors`: how does another process find a place again?
- `purity`: does code give the same in another process?
- `declared`: what does the user say that no trace can hear?
- `stamps`: is a file as it was?
- `surroundings`: what is around a program?
- `placed`: where is something, in plain data?
- `trees`: what is the tree of a result, in plain data?
- `sizes`: what is a size that has a name, in plain data?
- `late`: what did a warm start leave out?
- `refused`: why is a trace not kept?
"""
