"""Rows of features as small pictures: PNG within the page."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray
from structlearn.drawing.markup import Html, element


def grey_picture(values: FloatArray, least: float, most: float, words: str) -> Html:
    """Pixels from white (`least`) to black (`most`), (height, width)."""
    share = np.clip((values - least) / (most - least), 0.0, 1.0) if most > least else np.zeros(values.shape)
    return _image(np.round(255 * (1 - share)).astype(np.uint8), "ink", words)


def signed_picture(values: FloatArray, most: float, words: str) -> Html:
    """Weights as colours that lie over any ground: blue above zero, orange below, the stronger the more opaque."""
    pixels = np.empty((*values.shape, 4), np.uint8)
    pixels[..., :3] = np.where(values[..., None] > 0, (38, 110, 190), (214, 96, 0))
    pixels[..., 3] = np.round(255 * np.clip(np.abs(values) / most, 0.0, 1.0)) if most > 0 else 0
    return _image(pixels, "weights", words)


def dense_rows(x: Any) -> FloatArray | None:
    """A sequence or an example as rows of numbers; None if it is something else."""
    if sp.issparse(x):
        x = x.toarray()
    try:
        rows = np.asarray(x, np.float64)
    except (TypeError, ValueError):
        return None
    return rows[None] if rows.ndim == 1 else rows


def _image(pixels: npt.NDArray[np.uint8], style: str, words: str) -> Html:
    height, width = pixels.shape[:2]
    data = base64.b64encode(png(pixels)).decode()
    source = f"data:image/png;base64,{data}"
    return element("img", src=source, width=width, height=height, alt=words, class_=style)


def png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """(height, width) of grey or (height, width, 4) with opacity, as a PNG file (ISO/IEC 15948)."""
    height, width = pixels.shape[:2]
    kind = 0 if pixels.ndim == 2 else 6
    # Every row begins with the number of its filter: none.
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )
