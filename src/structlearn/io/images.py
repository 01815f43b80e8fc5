"""What files of images have in common: they are no text, and are read and written whole."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from structlearn.io.format import Example, Reader, Structure

#: The most pixels of one image, and the most bytes that arrays of a packed file may take without a look at their ratio.
MOST_PIXELS, HARMLESS = 1 << 26, 1 << 28


class ImageReader(Reader):
    """A kind of files with images.

    Attributes
    ----------
    suffix : str
        How the names of such files end.
    """

    suffix: ClassVar[str]

    @property
    def structure(self) -> Structure:
        return "image"

    @classmethod
    def recognise_file(cls, path: Path) -> bool:
        """Whether a file is one of these, by its name."""
        return path.suffix.lower() == cls.suffix

    @abstractmethod
    def read_file(self, path: Path) -> Iterator[Example]:
        """The images of a file with their labels, at least one; what cannot be understood raises ValueError."""

    @abstractmethod
    def write_file(self, source: Path, labels: Sequence[Any], target: BinaryIO) -> None:
        """What there is in a file, or belongs to it, with these labels of its images."""

    def written_name(self, source: Path) -> str:
        """What the file is called that predictions for another one are written to, in a folder of these."""
        return source.name
