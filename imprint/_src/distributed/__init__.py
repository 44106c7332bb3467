"""Implementation of `imprint.distributed`.

- `joining`: joining and leaving the other processes
- `environments`: SLURM, Open MPI and Kubernetes
- `store`: values that all processes share
"""
