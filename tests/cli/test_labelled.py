"""Networks, images and label sets from the command line."""

import json
import re

import networkx
import numpy as np
import pytest

from structlearn import ConditionalRandomField, StructuralSVM, load
from structlearn.data import Network
from structlearn.io import ImageFiles, NamedNetwork, NodeLink, read_examples
from structlearn.metrics import exact_match, example_f1, hamming_loss, mean_iou, node_accuracy
from structlearn.models import Graph, Grid, MultiLabel

TOPICS = ["home", "news", "sport"]
LABELS = ["beach", "city", "sea"]


def rings(random, n):
    """Pages in rings whose neighbours mostly have one topic."""
    for _ in range(n):
        labels = np.repeat(random.integers(3, size=3), 3)
        X = (np.eye(3)[labels] + 0.7 * random.normal(size=(9, 3))).round(3)
        features = [dict(zip(TOPICS, row, strict=True)) for row in X.tolist()]
        edges = [(i, (i + 1) % 9) for i in range(9)]
        yield NamedNetwork(features, edges, None, tuple(f"p{i}" for i in range(9))), [TOPICS[k] for k in labels]


def halves(random, n):
    """Images whose left and right differ, seen through noise."""
    Y = np.zeros((n, 6, 8), np.int64)
    for y in Y:
        y[:, random.integers(2, 7) :] = 1
    return (np.stack([Y, 1 - Y], axis=3) + 0.6 * random.normal(size=(n, 6, 8, 2))).round(3), Y


def scenes(random, n):
    X = random.normal(size=(n, 3)).round(3)
    Y = (X + 0.5 * random.normal(size=(n, 3)) > 0).astype(int)
    Y[:, 2] |= Y[:, 0]
    return X, Y


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    header = "@relation scenes\n" + "".join(f"@attribute f{k} real\n" for k in range(3))
    header += "".join(f"@attribute {label} {{0,1}}\n" for label in LABELS) + "@data\n"
    (tmp_path / "scenes.xml").write_text(
        "<labels>" + "".join(f'<label name="{label}"/>' for label in LABELS) + "</labels>"
    )
    for part, n in (("train", 16), ("test", 10)):
        (tmp_path / f"{part}.jsonl").write_text("".join(NodeLink().write(*ring) for ring in rings(random, n)))
        images, labels = halves(random, n // 2)
        np.savez(tmp_path / f"{part}.npz", images=images, labels=labels, comment=np.array("mine"))
        X, Y = scenes(random, 3 * n)
        rows = (",".join(map(str, [*x, *y])) for x, y in zip(X.tolist(), Y.tolist(), strict=True))
        (tmp_path / f"scenes-{part}.arff").write_text(header + "\n".join(rows) + "\n")
    return tmp_path


def examples(path):
    found = list(read_examples(path)[1])
    return [example.x for example in found], [example.y for example in found]


def test_a_model_of_networks_is_that_of_the_library(folder, run, run_json):
    assert run("train", "train.jsonl", "-o", "pages.slm", "--pairwise", "potts", "-c", "5", "-q") == (0, "", "")
    X, Y = examples("train.jsonl")
    svm = StructuralSVM(Graph(pairwise="potts"), C=5).fit([Network(x.nodes, x.edges) for x in X], Y)
    X_test, Y_test = examples("test.jsonl")
    found, predicted = run_json("evaluate", "pages.slm", "test.jsonl"), svm.predict(X_test)
    assert found["node_accuracy"] == pytest.approx(node_accuracy(Y_test, predicted))
    assert found["mean_iou"] == pytest.approx(mean_iou(Y_test, predicted))
    assert (found["examples"], found["nodes"]) == (10, 90)
    assert run("predict", "pages.slm", "test.jsonl", "-o", "labelled.jsonl") == (0, "", "")
    X_again, Y_again = examples("labelled.jsonl")
    assert (X_again, Y_again) == (X_test, predicted)
    graph = networkx.node_link_graph(json.loads((folder / "labelled.jsonl").read_text().split("\n")[0]))
    assert networkx.get_node_attributes(graph, "label") == dict(zip(X_test[0].names, predicted[0], strict=True))


def test_one_network_alone_is_judged_without_intervals(folder, run, run_json):
    assert run("train", "train.jsonl", "-o", "pages.slm", "-q")[0] == 0
    (folder / "one.jsonl").write_text((folder / "test.jsonl").read_text().split("\n")[0] + "\n")
    found = run_json("evaluate", "pages.slm", "one.jsonl")
    assert (found["examples"], found["intervals"]["mean_iou"]) == (1, None)
    assert run("report", "pages.slm", "one.jsonl", "-o", "report.html")[0] == 0


def test_probabilities_and_other_outputs_of_networks(folder, run):
    assert run("train", "train.jsonl", "-o", "pages.slm", "--learner", "crf", "--pairwise", "potts", "-q")[0] == 0
    status, out, _ = run("predict", "pages.slm", "test.jsonl", "--probabilities", "--k-best", "2", "--samples", "1")
    assert status == 0
    (folder / "told.jsonl").write_text(out)
    X, Y = examples("test.jsonl")
    assert examples("told.jsonl") == (X, Y)
    told = [json.loads(line) for line in out.splitlines()]
    crf = ConditionalRandomField(Graph(pairwise="potts")).fit(*examples("train.jsonl"))
    marginals = crf.predict_marginals(X)
    for line, P in zip(told, marginals, strict=True):
        np.testing.assert_allclose([list(node.values()) for node in line["probabilities"]], P, atol=1e-3)
        assert line["k_best"][0]["predicted"] == line["predicted"]
        assert len(line["samples"][0]) == 9


def test_labels_of_networks_may_be_known_in_part(folder, run, run_json):
    lines = []
    for x, y in zip(*examples("train.jsonl"), strict=True):
        network = json.loads(NodeLink().write(x, y))
        for node in network["nodes"][::2]:
            node["label"] = None
        lines.append(json.dumps(network))
    (folder / "some.jsonl").write_text("\n".join(lines))
    status, _, err = run("train", "some.jsonl", "-o", "pages.slm", "-q")
    assert (status, "nodes[0] has no label" in err, "say --partial" in err) == (1, True, True)
    words = ["train", "some.jsonl", "-o", "pages.slm", "--partial", "--pairwise", "potts", "-c", "5", "-q"]
    assert run(*words) == (0, "", "")
    assert run_json("evaluate", "pages.slm", "test.jsonl")["accuracy"] > 0.7
    status, out, _ = run("check", "some.jsonl", "--partial")
    assert "of which" in out


def test_nodes_are_named_where_a_network_is_drawn_and_explained(folder, run):
    assert run("train", "train.jsonl", "-o", "pages.slm", "-q")[0] == 0
    _, drawn, _ = run("predict", "pages.slm", "test.jsonl", "--draw")
    assert re.search(r"^p\d: (home|news|sport)✗ true is ", drawn, re.M)
    status, told, _ = run("explain", "pages.slm", "test.jsonl", "--example", "1", "--against", "second")
    assert status == 0
    assert "compared with the second best" in told
    assert "node " in told
    status, _, err = run("explain", "pages.slm", "test.jsonl", "--token", "1")
    assert (status, "--token is for the labels of tokens" in err) == (1, True)


def test_a_report_draws_networks_in_the_same_colours(folder, run):
    assert run("train", "train.jsonl", "-o", "pages.slm", "-q")[0] == 0
    assert run("report", "pages.slm", "test.jsonl", "-o", "report.html")[0] == 0
    page = (folder / "report.html").read_text()
    assert "trained on 16 graphs, judged on 10 graphs with 90 nodes" in page
    assert "sequence" not in re.sub(r"<(style|script).*?</\1>", "", page, flags=re.S)
    assert page.count("<circle") >= 9
    named = re.findall(r'rx="3" fill="(#\w+)"></rect><text[^>]*>\w</text></svg> (\w+)</li>', page)
    assert {label for _, label in named} == set(TOPICS)
    assert len(set(named)) == 3
    # Of some pictures only, in which colours would be others if they did not know of all labels.
    assert min(len(re.findall("<li>", legend)) for legend in re.findall('<ul class="legend">(<li>.*?)</ul>', page)) < 3


def test_a_model_of_images_is_that_of_the_library(folder, run, run_json):
    words = [
        "train",
        "train.npz",
        "-o",
        "pixels.slm",
        "--pairwise",
        "potts",
        "--nonnegative",
        "pairs",
        "-c",
        "20",
        "-q",
    ]
    assert run(*words) == (0, "", "")
    train, test = np.load("train.npz"), np.load("test.npz")
    svm = StructuralSVM(Grid(pairwise="potts"), nonnegative="pairs", C=20).fit(train["images"], list(train["labels"]))
    predicted = np.array(svm.predict(test["images"]))
    found = run_json("evaluate", "pixels.slm", "test.npz")
    assert found["pixel_accuracy"] == pytest.approx((predicted == test["labels"]).mean())
    assert found["mean_iou"] == pytest.approx(mean_iou(list(test["labels"]), list(predicted)))
    assert run("predict", "pixels.slm", "test.npz", "-o", "labelled.npz") == (0, "", "")
    written = np.load("labelled.npz")
    np.testing.assert_array_equal(written["labels"], predicted)
    np.testing.assert_array_equal(written["images"], test["images"])
    assert str(written["comment"]) == "mine"
    assert run_json("evaluate", "pixels.slm", "labelled.npz")["loss"] == 0.0


def test_predictions_for_images_need_a_file_to_go_to(folder, run):
    assert run("train", "train.npz", "-o", "pixels.slm", "-q")[0] == 0
    status, out, err = run("predict", "pixels.slm", "test.npz")
    assert (status, out) == (1, "")
    assert "say where they go, by -o" in err
    status, _, err = run("predict", "pixels.slm", "test.npz", "-o", "test.npz")
    assert (status, "is the file that is read" in err) == (1, True)
    status, _, err = run("predict", "pixels.slm", "test.jsonl", "-o", "new.npz")
    assert (status, "expected a file in the format npz" in err) == (1, True)
    status, _, err = run("evaluate", "pixels.slm", "-")
    assert (status, "npz files are read by their names" in err) == (1, True)


def test_folders_of_png_files_are_read_and_written(folder, run, run_json):
    images, labels = halves(np.random.default_rng(3), 6)
    for part in ("photos", "new"):
        (folder / part).mkdir()
    for k, (x, y) in enumerate(zip(images, labels, strict=True)):
        grey = np.clip(100 * x[:, :, 0] + 80, 0, 255).astype(np.uint8)
        where = folder / ("photos" if k < 4 else "new")
        from PIL import Image

        Image.fromarray(grey).save(where / f"{k}.png")
        Image.fromarray(y.astype(np.uint8)).save(where / f"{k}_labels.png")
    assert run("train", "photos", "-o", "pixels.slm", "--fit-intercept", "-c", "20", "-q") == (0, "", "")
    found = run_json("evaluate", "pixels.slm", "new")
    assert (found["examples"], found["pixel_accuracy"] > 0.8) == (2, True)
    assert run("predict", "pixels.slm", "new", "-o", "labelled") == (0, "", "")
    svm = load("pixels.slm")
    for k in (4, 5):
        (example,) = ImageFiles().read_file(folder / f"new/{k}.png")
        written = np.asarray(Image.open(folder / f"labelled/{k}_labels.png"))
        np.testing.assert_array_equal(written, svm.predict([example.x])[0])


def test_images_are_checked_drawn_explained_and_reported(folder, run):
    assert run("train", "train.npz", "-o", "pixels.slm", "-q")[0] == 0
    assert run("check", "train.npz")[1].startswith("train.npz: npz, 8 images, 384 pixels, 48 pixels an image")
    _, drawn, _ = run("predict", "pixels.slm", "test.npz", "--draw")
    assert "wrong of 48 pixels" in drawn
    status, told, err = run("explain", "pixels.slm", "test.npz", "--example", "0")
    assert status == 0, err
    assert re.search(r"^6 × 8 labels against \d+ of them otherwise: ", told, re.M)
    assert run("report", "pixels.slm", "test.npz", "-o", "report.html")[0] == 0
    page = (folder / "report.html").read_text()
    assert "trained on 8 images, judged on 5 images" in page
    assert "gives each pixel of an image a label" in page


def test_a_model_of_label_sets_is_that_of_the_library(folder, run, run_json):
    words = ["train", "scenes-train.arff", "-o", "scenes.slm", "--pairs", "full", "--fit-intercept", "-c", "9", "-q"]
    assert run(*words) == (0, "", "")
    X, Y = examples("scenes-train.arff")
    svm = StructuralSVM(MultiLabel(pairs="full"), C=9, fit_intercept=True).fit(X, Y)
    X_test, Y_test = examples("scenes-test.arff")
    predicted, found = svm.predict(X_test), run_json("evaluate", "scenes.slm", "scenes-test.arff")
    assert found["label_accuracy"] == pytest.approx(1 - hamming_loss(Y_test, predicted, labels=LABELS))
    assert found["accuracy"] == pytest.approx(exact_match(Y_test, predicted))
    assert found["example_f1"] == pytest.approx(example_f1(Y_test, predicted))
    assert run("predict", "scenes.slm", "scenes-test.arff", "-o", "labelled.arff") == (0, "", "")
    assert run_json("evaluate", "scenes.slm", "labelled.arff")["loss"] == 0.0
    assert list(read_examples("labelled.arff", load_reader(folder))[1])[3].y == predicted[3]


def load_reader(folder):
    from structlearn.persistence.model_file import read

    return read(folder / "scenes.slm").reader


def test_which_attributes_are_labels_can_be_said(folder, run):
    text = (folder / "scenes-train.arff").read_text()
    (folder / "other.arff").write_text(text)
    status, _, err = run("train", "other.arff", "-o", "x.slm", "-q")
    assert status == 1
    assert "other.arff:1:1: nothing says which attributes are labels" in err
    for label in ("scenes.xml", ",".join(LABELS)):
        assert run("train", "other.arff", "-o", "x.slm", "--format", "arff", "--label", label, "-q") == (0, "", "")
    assert run("train", "other.arff", "-o", "x.slm", "--label", "scenes.xml", "-q") == (0, "", "")
    assert run("evaluate", "x.slm", "other.arff")[0] == 0
    status, _, err = run("train", "other.arff", "-o", "x.slm", "--format", "arff", "--label", "moon", "-q")
    assert (status, "the label 'moon' is no attribute" in err) == (1, True)


def test_probabilities_of_label_sets(folder, run):
    assert run("train", "scenes-train.arff", "-o", "scenes.slm", "--learner", "crf", "-q")[0] == 0
    _, out, _ = run("predict", "scenes.slm", "scenes-test.arff", "--probabilities", "--k-best", "2")
    crf = load("scenes.slm")
    X, _ = examples("scenes-test.arff")
    for line, P in zip(map(json.loads, out.splitlines()), crf.predict_marginals(X), strict=True):
        np.testing.assert_allclose([line["probabilities"][label] for label in LABELS], P, atol=1e-6)
        assert line["k_best"][0]["predicted"] == line["predicted"]


def test_a_label_that_some_parts_lack_is_no_hindrance(folder, run, run_json):
    rare = (folder / "scenes-train.arff").read_text().replace("@attribute sea", "@attribute moon {0,1}\n@attribute sea")
    header, rows = rare.split("@data\n")
    rows = [re.sub(r",([01])$", r",0,\1", row) for row in rows.splitlines()]
    rows[0] = re.sub(r",0,([01])$", r",1,\1", rows[0])
    (folder / "rare.arff").write_text(header + "@data\n" + "\n".join(rows) + "\n")
    (folder / "rare.xml").write_text(
        "<labels>" + "".join(f'<label name="{label}"/>' for label in [*LABELS, "moon"]) + "</labels>"
    )
    rows[0] = re.sub(r",1,([01])$", r",0,\1", rows[0])
    (folder / "rare-train.arff").write_text(header + "@data\n" + "\n".join(rows) + "\n")
    assert run("train", "rare-train.arff", "-o", "rare.slm", "-q") == (0, "", "")
    assert run_json("evaluate", "rare.slm", "rare.arff")["examples"] == 48
    found = run_json("tune", "rare.arff", "--grid", "C=1,10", "--folds", "2", "-j", "1")
    assert (found["metric"], len(found["results"])) == ("label accuracy", 2)
    found = run_json("tune", "rare.arff", "--grid", "pairs=tree,independent", "--loss", "f1", "--folds", "2", "-j", "1")
    assert found["metric"] == "example f1"


@pytest.mark.parametrize(
    ("file", "options", "metric"),
    [("train.jsonl", ["--grid", "pairwise=potts,none"], "node accuracy"), ("train.npz", [], "pixel accuracy")],
)
def test_settings_are_chosen_by_the_share_of_right_labels(folder, run_json, file, options, metric):
    found = run_json("tune", file, *options, "--grid", "C=1", "--folds", "2", "-j", "1")
    assert found["metric"] == metric
    assert 0.5 < found["score"] <= 1.0


def test_label_sets_are_checked_drawn_explained_reported_and_compared(folder, run):
    train = ["train", "scenes-train.arff", "-q", "--fit-intercept"]
    assert run(*train, "-o", "tree.slm")[0] == run(*train, "-o", "alone.slm", "--pairs", "independent")[0] == 0
    assert "arff, 48 examples, " in run("check", "scenes-train.arff")[1]
    assert " extra ✗" in run("predict", "tree.slm", "scenes-test.arff", "--draw")[1]
    assert run("explain", "tree.slm", "scenes-test.arff", "--against", "second")[0] == 0
    assert run("compare", "tree.slm", "alone.slm", "scenes-test.arff")[0] == 0
    assert "pairs of labels" in run("inspect", "tree.slm")[1]
    assert run("report", "tree.slm", "scenes-test.arff", "-o", "report.html")[0] == 0
    assert "chooses a set of labels for every example" in (folder / "report.html").read_text()


def test_label_sets_go_from_format_to_format(folder, run, run_json):
    _, rows, _ = run("convert", "scenes-train.arff", "--to", "jsonl")
    (folder / "scenes.jsonl").write_text(rows)
    X, Y = examples("scenes-train.arff")
    assert examples("scenes.jsonl") == (X, Y)
    status, _, err = run("convert", "scenes.jsonl", "--to", "arff")
    assert (status, "cannot be written in arff" in err) == (1, True)
    status, _, err = run("convert", "scenes.jsonl", "--to", "svmlight")
    assert (status, "jsonl holds sets of labels, svmlight holds single examples" in err) == (1, True)
    (folder / "rows.txt").write_text("1,2 1:1\n2 2:1\n1,3 1:1 3:1\n3,2 2:1 3:1\n")
    assert run("train", "rows.txt", "-o", "rows.slm", "-c", "40", "-q") == (0, "", "")
    assert run_json("evaluate", "rows.slm", "rows.txt")["examples"] == 4


def test_labels_that_training_never_saw_are_told_of(folder, run):
    assert run("train", "train.jsonl", "-o", "pages.slm", "-q")[0] == 0
    (folder / "new.jsonl").write_text((folder / "test.jsonl").read_text().replace('"label": "news"', '"label": "ads"'))
    status, _, err = run("evaluate", "pages.slm", "new.jsonl")
    assert (status, "labels that training never saw, which count as wrong: ads" in err) == (0, True)


@pytest.mark.parametrize(
    ("file", "form"), [("train.jsonl", "nodelink"), ("train.npz", "npz"), ("scenes-train.arff", "arff")]
)
def test_help_is_about_the_file(folder, run, file, form):
    told = re.sub(r"\s*│?\n│?\s*", " ", run("train", file, "--help")[1])
    assert f"({form})" in told
    panels = [name for name in ("networks", "images", "label sets", "sequences") if f"Model of {name}" in told]
    assert panels == [{"nodelink": "networks", "npz": "images", "arff": "label sets"}[form]]
