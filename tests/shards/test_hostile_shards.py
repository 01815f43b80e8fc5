"""Folders of shards that are damaged, foreign or made on purpose: each is refused by a message that names the file."""

import json
import shutil
from hashlib import blake2b

import numpy as np
import pytest

from structlearn import open_shards, write_shards
from structlearn.features import TextFeatures
from structlearn.shards import manifest as manifests
from structlearn.shards.manifest import ARRAYS, Manifest, file_of


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards") / "corpus"
    chunks = [([np.eye(3), np.eye(3)[:1]], [["a", "b", "a"], ["b"]]), ([np.eye(3)[:2]], [["a", "c"]])]
    write_shards(chunks, folder)
    return folder


@pytest.fixture
def folder(written, tmp_path):
    return shutil.copytree(written, tmp_path / "corpus")


def edit(folder, change):
    """Changes a manifest and signs it anew."""
    path = folder / manifests.NAME
    values = json.loads(path.read_text())
    del values["digest"]
    change(values)
    values["digest"] = manifests._digest(values)
    path.write_text(json.dumps(values))


def digest_of(data):
    return blake2b(data, digest_size=16).hexdigest()


def read(folder):
    corpus = open_shards(folder)
    return corpus.X, corpus.Y


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("k", [0, 1])
def test_a_bit_that_fell_over_is_found_in_its_shard(folder, name, k):
    entry = Manifest.part(manifests.read_manifest(folder), name, k).stop - 1
    path = file_of(folder, name)
    data = bytearray(path.read_bytes())
    size = manifests.read_manifest(folder).dtype_of(name).itemsize
    data[entry * size] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=rf"shard {k} of .*{name}.bin is damaged or edited"):
        read(folder)
    open_shards(folder)


@pytest.mark.parametrize("name", ARRAYS)
def test_files_that_are_missing_or_cut_short(folder, name):
    path = file_of(folder, name)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=rf"{name}.bin has \d+ bytes, but the manifest says"):
        open_shards(folder)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=rf"{name}.bin is missing"):
        open_shards(folder)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "[" * 100_000, '{"format": "safetensors"}', "\x00", '{"a": 1' + "0" * 5000 + "}"]
)
def test_what_is_no_manifest(folder, text):
    (folder / manifests.NAME).write_text(text)
    with pytest.raises(ValueError, match=r"manifest\.json is"):
        open_shards(folder)


def test_a_folder_without_one(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder of shards"):
        open_shards(tmp_path)


def test_an_edited_manifest_does_not_have_its_digest(folder):
    path = folder / manifests.NAME
    path.write_text(path.read_text().replace('"c"', '"d"'))
    with pytest.raises(ValueError, match="do not have the digest"):
        open_shards(folder)


EDITS = {
    "newer": lambda values: values.update(version=2),
    "no version": lambda values: values.pop("version"),
    "one field more": lambda values: values.update(code="import os"),
    "one field less": lambda values: values.pop("classes"),
    "not complete": lambda values: values.update(complete=False),
    "complete by text": lambda values: values.update(complete="yes"),
    "another type": lambda values: values.update(dtype="|O"),
    "no list of shards": lambda values: values.update(shards={"0": 1}),
    "no shards": lambda values: values.update(shards=[]),
    "no classes": lambda values: values.update(classes=[]),
    "a class twice": lambda values: values.update(classes=["a", "a", "b"]),
    "a class that is a list": lambda values: values.update(classes=["a", "b", []]),
    "a class that is an object": lambda values: values.update(classes=["a", "b", {"object": "os", "options": {}}]),
    "features below zero": lambda values: values.update(n_features=-1),
    "too many features": lambda values: values.update(n_features=2**31),
    "features by text": lambda values: values.update(n_features="3"),
    "features without a digest": lambda values: values.update(features=1),
    "no source": lambda values: values.update(source=3),
    "a shard that is a list": lambda values: values["shards"].append([]),
    "a shard below zero": lambda values: values["shards"][0].update(tokens=-4),
    "a huge shard": lambda values: values["shards"][0].update(tokens=2**60),
    "a flag for a number": lambda values: values["shards"][0].update(tokens=True),
    "tokens that are elsewhere": lambda values: values["shards"][0].update(tokens=1),
    "examples that are elsewhere": lambda values: [
        shard.update(examples=3 - 2 * k) for k, shard in enumerate(values["shards"])
    ],
    "no digest": lambda values: values["shards"][0]["digests"].pop("labels"),
    "a digest that is a number": lambda values: values["shards"][0]["digests"].update(labels=1),
}


@pytest.mark.parametrize("change", EDITS.values(), ids=EDITS)
def test_manifests_made_on_purpose(folder, change):
    edit(folder, change)
    with pytest.raises(
        ValueError, match=r"manifest\.json is|unfinished|bytes, but the manifest says|is damaged or edited"
    ):
        read(folder)


NUMBERS = {
    "columns": [3, -1, 2**31 - 1],
    "labels": [3, -1],
    "values": [np.nan, np.inf],
    "row_starts": [-1, 2**40],
    "offsets": [-1, 0, 2**40],
}


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, numbers in NUMBERS.items() for number in numbers]
)
def test_numbers_out_of_their_range_are_refused_with_the_right_digest(folder, name, number):
    from structlearn.data.arrays import digest

    found = manifests.read_manifest(folder)
    array = np.fromfile(file_of(folder, name), found.dtype_of(name))
    array[1] = number
    array.tofile(file_of(folder, name))
    edit(folder, lambda values: values["shards"][0]["digests"].update({name: digest(array[found.part(name, 0)])}))
    with pytest.raises(ValueError, match=rf"shard 0 of .*{name}.bin is damaged or edited: "):
        read(folder)


@pytest.fixture
def with_features(tmp_path):
    def make(name, word):
        features = TextFeatures(["word[0]"]).fit([[word]])
        return write_shards([([[word]], [["N"]])], tmp_path / name, features=features)

    return make


def test_features_of_another_corpus_are_refused(with_features):
    folder, other = (with_features(word, word).path for word in ("dog", "cat"))
    shutil.copy(other / "features.safetensors", folder)
    with pytest.raises(ValueError, match=r"features\.safetensors is not the one that the corpus was written with"):
        _ = open_shards(folder).features
    (folder / "features.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"features\.safetensors is missing"):
        open_shards(folder)


def test_features_beside_a_corpus_without_any_are_foreign(folder, with_features):
    shutil.copy(with_features("dog", "dog").path / "features.safetensors", folder)
    assert open_shards(folder).features is None


def test_features_made_on_purpose(written, tmp_path):
    (tmp_path / "corpus").mkdir()
    for path in written.iterdir():
        shutil.copy(path, tmp_path / "corpus")
    (tmp_path / "corpus" / "features.safetensors").write_bytes(b"not at all")
    edit(tmp_path / "corpus", lambda values: values.update(features=digest_of(b"not at all")))
    with pytest.raises(ValueError, match=r"features\.safetensors is no file of features"):
        _ = open_shards(tmp_path / "corpus").features
