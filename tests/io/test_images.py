"""Images in .npz and PNG files, whole and hostile ones."""

import io
import pickle
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from structlearn.io import ImageArrays, ImageFiles, image_arrays, image_files, read_examples

RANDOM = np.random.default_rng(0)
IMAGES, LABELS = RANDOM.normal(size=(2, 3, 4, 2)), RANDOM.integers(3, size=(2, 3, 4))


def saved(path, **arrays):
    np.savez(path, **arrays)
    return path


def read(path):
    return list(read_examples(path)[1])


def test_images_of_one_size_stand_in_one_array(tmp_path):
    first, second = read(saved(tmp_path / "a.npz", images=IMAGES, labels=LABELS))
    np.testing.assert_array_equal(second.x, IMAGES[1])
    np.testing.assert_array_equal(first.y, LABELS[0])
    assert first.place == f"{tmp_path}/a.npz[0]"
    assert read(saved(tmp_path / "b.npz", images=IMAGES))[0].y is None


def test_one_image_may_stand_alone_and_labels_may_be_texts(tmp_path):
    (example,) = read(
        saved(tmp_path / "a.npz", image=IMAGES[0, :, :, 0], labels=np.array(["sea", "sky"])[LABELS[0] % 2])
    )
    assert (example.x.shape, example.y[0, 0] in ("sea", "sky"), example.place) == ((3, 4), True, f"{tmp_path}/a.npz")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("single", [True, False])
def test_predictions_take_the_place_of_labels(tmp_path, order, single):
    images = np.array(IMAGES, order=order)
    path = saved(tmp_path / "a.npz", **({"image": images[0]} if single else {"images": images}), more=np.arange(3))
    outputs = [LABELS[0]] if single else list(LABELS)
    with (tmp_path / "b.npz").open("wb") as target:
        ImageArrays().write_file(path, outputs, target)
    again = read(tmp_path / "b.npz")
    for example, x, y in zip(again, IMAGES, outputs, strict=False):
        np.testing.assert_array_equal(example.x, x)
        np.testing.assert_array_equal(example.y, y)
    np.testing.assert_array_equal(np.load(tmp_path / "b.npz")["more"], np.arange(3))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "expected an array 'images' or one 'image', found nothing"),
        ({"X": IMAGES}, "found 'X'"),
        ({"image": IMAGES[0], "images": IMAGES}, "found both"),
        ({"images": IMAGES[0, 0]}, "'images' has shape (4, 2); expected images, rows, columns and perhaps channels"),
        ({"image": IMAGES}, "'image' has shape (2, 3, 4, 2); expected rows, columns and perhaps channels"),
        ({"images": IMAGES[:0]}, "none of them 0"),
        ({"images": IMAGES, "labels": LABELS[:1]}, "'labels' has shape (1, 3, 4), but the pixels have (2, 3, 4)"),
        ({"image": IMAGES[0], "labels": LABELS}, "'labels' has shape (2, 3, 4), but the pixels have (3, 4)"),
        ({"images": IMAGES, "labels": LABELS + 0.5}, "'labels' has the type float64; expected whole numbers or texts"),
        ({"images": IMAGES.astype("U")}, "expected numbers"),
        ({"images": IMAGES.astype(object)}, "'images' has the type object; objects are not read"),
    ],
)
def test_what_is_no_data_set_is_refused_by_name(tmp_path, arrays, message):
    path = saved(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)


def member(header, content=b"", version=b"\x01\x00"):
    """The bytes of an array with any header."""
    size = len(header).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + size + header + content


class Evil:
    def __reduce__(self):
        return print, ("unpickled",)


HOSTILE = {
    "more pixels than bytes": member(b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999, 999999, 9999)}\n"),
    "fewer pixels than bytes": member(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1)}\n", b"0" * 80),
    "negative": member(b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1)}\n", b"0" * 8),
    "pickled": member(b"{'descr': '|O', 'fortran_order': False, 'shape': (1, 1)}\n", pickle.dumps(Evil())),
    "code": member(b"{'descr': __import__('os'), 'fortran_order': False, 'shape': (1, 1)}\n"),
    "another version": member(b"{'descr': '<f8', 'fortran_order': False, 'shape': ()}\n", version=b"\x07\x00"),
    "a structure": member(b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}\n", b"0" * 8),
    "nothing": b"",
    "half a header": member(b"{'descr': '<f8', 'fort"),
    "text": b"some text that is no array",
    "deep": member(b"(" * 9000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_arrays_are_refused_and_nothing_is_unpickled(tmp_path, capsys, name):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("image.npy", HOSTILE[name])
    with pytest.raises(ValueError, match="'image'") as error:
        read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert len(str(error.value)) < 600
    assert capsys.readouterr().out == ""


def test_archives_that_are_none_or_unpack_to_too_much_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    for content in (b"", b"PK\x03\x04", b"no archive at all" * 100):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="this is no file of arrays"):
            read(path)
    monkeypatch.setattr(image_arrays, "HARMLESS", 1000)
    np.savez_compressed(path, image=np.zeros((1000, 1000)))
    with pytest.raises(ValueError, match=r"unpack to 8,000,\d+ bytes, more than 200 times their size"):
        read(path)


@given(st.integers(0, 2000), st.binary(min_size=1, max_size=6))
def test_damaged_archives_are_read_or_refused(place, patch):
    stream = io.BytesIO()
    np.savez_compressed(stream, images=IMAGES, labels=LABELS)
    content = bytearray(stream.getvalue())
    place %= len(content)
    content[place : place + len(patch)] = patch
    try:
        image_arrays._read(io.BytesIO(bytes(content)))
    except ValueError as error:
        assert len(str(error)) < 600  # noqa: PT017


def png(path, values, mode=None):
    image = Image.fromarray(values)
    (image if mode is None else image.convert(mode)).save(path)
    return path


GREY = RANDOM.integers(256, size=(3, 4), dtype=np.uint8)
RGB = RANDOM.integers(256, size=(3, 4, 3), dtype=np.uint8)


def test_channels_are_numbers_from_0_to_1_and_labels_those_of_the_pixels(tmp_path):
    path = png(tmp_path / "a.png", RGB)
    assert read(path)[0].y is None
    png(tmp_path / "a_labels.png", GREY % 3)
    (example,) = read(path)
    np.testing.assert_allclose(example.x, RGB / 255, rtol=1e-6)
    np.testing.assert_array_equal(example.y, GREY % 3)
    (grey,) = read(png(tmp_path / "b.png", GREY))
    np.testing.assert_allclose(grey.x, GREY / 255, rtol=1e-6)
    (deep,) = read(png(tmp_path / "c.png", GREY.astype(np.uint16) * 257))
    np.testing.assert_allclose(deep.x, GREY / 255, rtol=1e-6)
    (black,) = read(png(tmp_path / "d.png", GREY, "1"))
    assert set(black.x.ravel()) <= {0.0, 1.0}
    (indexed,) = read(png(tmp_path / "e.png", RGB, "P"))
    assert indexed.x.shape == (3, 4, 3)


def test_labels_are_written_with_colours_and_read_as_numbers(tmp_path):
    path = png(tmp_path / "a.png", GREY)
    with (tmp_path / "a_labels.png").open("wb") as target:
        ImageFiles().write_file(path, [LABELS[0]], target)
    np.testing.assert_array_equal(read(path)[0].y, LABELS[0])
    written = Image.open(tmp_path / "a_labels.png")
    assert written.mode == "P"
    colours = written.convert("RGB").getcolors()
    assert len(colours) == len(np.unique(LABELS[0]))
    assert len(set(zip(*[iter(image_files._palette())] * 3, strict=True))) == 256
    for labels in (np.array([["a"]]), np.array([[256]]), np.array([[-1]])):
        with pytest.raises(ValueError, match="whole numbers from 0 to 255"):
            ImageFiles().write_file(path, [labels], io.BytesIO())


def test_png_files_that_are_none_or_do_not_fit_are_refused(tmp_path, monkeypatch):
    path = png(tmp_path / "a.png", GREY)
    png(tmp_path / "a_labels.png", GREY[:2])
    with pytest.raises(ValueError, match=r"a_labels.png has \(2, 4\) pixels, but .*a.png has \(3, 4\)"):
        read(path)
    png(tmp_path / "a_labels.png", RGB)
    with pytest.raises(ValueError, match=r"a_labels.png has pixels of the mode RGB; labels are single numbers"):
        read(path)
    (tmp_path / "a_labels.png").unlink()
    content = path.read_bytes()
    for damaged in (b"", b"GIF89a", content[:40], content[:50], content.replace(b"IDAT", b"JDAT")):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"a.png: this is no PNG file that can be read"):
            read(path)
    monkeypatch.setattr(image_files, "MOST_PIXELS", 11)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="it has 4 × 3 pixels; at most 11 are read"):
        read(path)


def test_without_pillow_it_is_said_what_helps(tmp_path, monkeypatch):
    path = png(tmp_path / "a.png", GREY)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match="PNG files are read by Pillow: pip install pillow"):
        read(path)
