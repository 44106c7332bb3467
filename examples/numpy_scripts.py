"""Four scripts of plain NumPy, without imprint.

Bodies that attract each other, a filter of a photograph, clusters of flowers, and a fluid
in Fourier space. `jit_scripts` runs each with NumPy and under `imprint.jit`.
"""

from typing import Any

import numpy as np


def attract(positions: Any, velocities: Any, masses: Any) -> Any:
    """Move bodies by their gravitation for ten steps, by leapfrog."""
    step = 1e-3

    def pull(positions: Any) -> Any:
        gaps = positions[None, :, :] - positions[:, None, :]
        squared = np.sum(np.square(gaps), axis=-1) + 1e-2
        strength = masses * squared**-1.5
        return np.sum(gaps * strength[:, :, None], axis=1)

    pulled = pull(positions)
    for _ in range(10):
        velocities = velocities + step / 2 * pulled
        positions = positions + step * velocities
        pulled = pull(positions)
        velocities = velocities + step / 2 * pulled
    gaps = positions[None, :, :] - positions[:, None, :]
    distances = np.sqrt(np.sum(np.square(gaps), axis=-1) + 1e-2)
    pairs = np.triu(np.outer(masses, masses) / distances, 1)
    moving = np.dot(masses, np.sum(np.square(velocities), axis=-1)) / 2
    return positions, velocities, moving - np.sum(pairs)


def smooth(photograph: Any) -> Any:
    """Take the noise of a photograph and keep its edges: a bilateral filter."""
    grey = np.dot(photograph / np.float32(255), np.array(_LUMA, np.float32))
    reach = 3
    inner = grey[reach:-reach, reach:-reach]
    height, width = inner.shape
    total = np.zeros_like(inner)
    weights = np.zeros_like(inner)
    for down in range(2 * reach + 1):
        for right in range(2 * reach + 1):
            other = grey[down : down + height, right : right + width]
            near = (down - reach) ** 2 + (right - reach) ** 2
            weight = np.exp(-near / 8 - np.square(other - inner) / 0.01)
            total = total + weight * other
            weights = weights + weight
    clean: Any = total / weights
    edges = np.hypot(*np.gradient(clean))
    return (np.clip(clean, 0, 1) * 255 + 0.5).astype(np.uint8), edges


_LUMA = (0.299, 0.587, 0.114)
"""The weights of red, green and blue in the brightness of a pixel."""


def cluster(points: Any, centers: Any) -> Any:
    """Move centers to the means of the points next to them, twenty times."""

    def nearest(centers: Any) -> Any:
        gaps = points[:, None, :] - centers[None, :, :]
        squared = np.sum(np.square(gaps), axis=-1)
        return np.argmin(squared, axis=1), np.min(squared, axis=1)

    for _ in range(20):
        labels, _ = nearest(centers)
        is_member = (labels[:, None] == np.arange(len(centers))).astype(points.dtype)
        counts = np.maximum(is_member.sum(axis=0), 1)
        centers = is_member.T @ points / counts[:, None]
    labels, squared = nearest(centers)
    return centers, labels, np.mean(squared)


def swirl(vorticity: Any) -> Any:
    """Follow a fluid in a periodic square for ten steps, in Fourier space."""
    n, step, viscosity = len(vorticity), 2e-3, 1e-3
    waves = np.fft.fftfreq(n, 1 / n).astype(np.float32)
    along, across = np.meshgrid(waves, waves[: n // 2 + 1], indexing="ij")
    squared = along**2 + across**2
    inverse = np.where(squared > 0, 1 / np.maximum(squared, 1), 0).astype(np.float32)
    is_kept = (np.abs(along) < n / 3) & (np.abs(across) < n / 3)
    decay = np.exp(-viscosity * step * squared)

    def push(modes: Any) -> Any:
        stream = modes * inverse
        back = [
            np.fft.irfft2(1j * factor)
            for factor in (
                across * stream,
                -along * stream,
                along * modes,
                across * modes,
            )
        ]
        return -np.fft.rfft2(back[0] * back[2] + back[1] * back[3]) * is_kept

    modes = np.fft.rfft2(vorticity)
    for _ in range(10):
        half = modes + step / 2 * push(modes)
        modes = decay * (modes + step * push(half))
    vorticity = np.fft.irfft2(modes)
    return vorticity, np.mean(np.square(vorticity)) / 2
