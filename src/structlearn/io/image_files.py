"""Images as PNG files, with the labels of the pixels of ``a.png`` in ``a_labels.png`` beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

import numpy as np
import numpy.typing as npt

from structlearn.io.format import Example
from structlearn.io.images import MOST_PIXELS, ImageReader

if TYPE_CHECKING:
    from PIL import Image

#: How the names of label images end.
LABELS = "_labels"
#: The largest value of a channel, by the mode of an image.
CHANNELS = {"1": 1, "L": 255, "LA": 255, "RGB": 255, "RGBA": 255, "I;16": 65535}
#: Modes in which a pixel is one small number.
INDEXED = ("1", "L", "P")


@dataclass(frozen=True)
class ImageFiles(ImageReader):
    """PNG files: channels as numbers from 0 to 1, labels the numbers of the pixels of a grey or indexed image.

    ``a_labels.png`` holds the labels of ``a.png``, and is no image of its own; without it ``a.png`` has none.
    Predictions are such label images, with a palette so that they can be looked at. Pillow reads the files.
    """

    name: ClassVar[str] = "png"
    suffix: ClassVar[str] = ".png"

    @classmethod
    def recognise_file(cls, path: Path) -> bool:
        return super().recognise_file(path) and not is_label_image(path)

    def read_file(self, path: Path) -> Iterator[Example]:
        image = _channels(path)
        beside = path.with_name(self.written_name(path))
        labels = _indices(beside) if beside.is_file() else None
        if labels is not None and labels.shape != image.shape[:2]:
            raise ValueError(f"{beside} has {labels.shape} pixels, but {path} has {image.shape[:2]}")
        yield Example(image, labels, 0, (), file=str(path))

    def write_file(self, source: Path, labels: Sequence[Any], target: BinaryIO) -> None:
        from PIL import Image

        (found,) = labels
        numbers = np.asarray(found)
        if numbers.dtype.kind not in "biu" or numbers.min() < 0 or numbers.max() > 255:
            raise ValueError("labels of PNG files are whole numbers from 0 to 255; the model has others")
        image = Image.fromarray(numbers.astype(np.uint8))
        image.putpalette(_palette())
        image.save(target, format="PNG")

    def written_name(self, source: Path) -> str:
        return f"{source.stem}{LABELS}{source.suffix}"


def is_label_image(path: Path) -> bool:
    """Whether a file has the labels of another one, by its name."""
    return path.suffix.lower() == ImageFiles.suffix and path.stem.endswith(LABELS)


def _channels(path: Path) -> npt.NDArray[np.float32]:
    with _opened(path) as image:
        shown = image.convert("RGB") if image.mode == "P" else image
        if shown.mode not in CHANNELS:
            raise ValueError(f"{path} has pixels of the mode {shown.mode}; expected {', '.join(CHANNELS)} or P")
        return np.asarray(shown, np.float32) / np.float32(CHANNELS[shown.mode])


def _indices(path: Path) -> npt.NDArray[np.uint8]:
    with _opened(path) as image:
        if image.mode not in INDEXED:
            raise ValueError(
                f"{path} has pixels of the mode {image.mode}; labels are single numbers, in images of the modes "
                f"{', '.join(INDEXED)}"
            )
        return np.asarray(image, np.uint8)


@contextmanager
def _opened(path: Path) -> Iterator[Image.Image]:
    """A PNG file that was read; the number of its pixels is looked at before they are."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("PNG files are read by Pillow: pip install pillow, or give .npz files") from None
    with path.open("rb") as file:
        try:
            image = Image.open(file, formats=["PNG"])
            width, height = image.size
            if width * height > MOST_PIXELS:
                raise ValueError(f"it has {width:,} × {height:,} pixels; at most {MOST_PIXELS:,} are read")
            image.load()
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            raise ValueError(f"{path}: this is no PNG file that can be read: {error}") from None
        yield image


def _palette() -> list[int]:
    """256 colours that differ in their highest bits first, as label images of Pascal VOC have them."""
    colours = []
    for label in range(256):
        for channel in range(3):
            bits = ((label >> (3 * k + channel)) & 1 for k in range(3))
            colours.append(sum(bit << (7 - k) for k, bit in enumerate(bits)))
    return colours
