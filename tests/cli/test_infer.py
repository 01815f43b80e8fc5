import json

import numpy as np
import pytest

from structlearn.inference.graphs.engines.enumeration import all_scores
from structlearn.io import write_uai
from tests.inference.graphs.random_graphs import mixed_graph


@pytest.fixture
def graph(tmp_path, monkeypatch):
    """A graph of seven variables, written to model.uai, with evidence for the first in model.uai.evid."""
    monkeypatch.chdir(tmp_path)
    graph = mixed_graph(np.random.default_rng(0))
    write_uai(graph, "model.uai")
    tmp_path.joinpath("model.uai.evid").write_text("1 0 1\n")
    return graph.given({0: 1})


def test_the_best_labels_are_printed_as_the_competition_wants_them(graph, run):
    status, out, err = run("infer", "model.uai", "--evidence", "model.uai.evid")
    assert status == 0
    title, numbers = out.splitlines()
    n, *labels = map(int, numbers.split())
    assert (title, n) == ("MAP", 7)
    assert graph.score(labels) == pytest.approx(all_scores(graph).max())
    assert err.startswith("junction_tree: score ")


def test_json_tells_score_bound_and_proof(graph, run):
    _, out, _ = run("infer", "model.uai", "--evidence", "model.uai.evid", "--json")
    found, best = json.loads(out), all_scores(graph).max()
    assert found["score"] == pytest.approx(best)
    assert found["bound"] == pytest.approx(best)
    assert found["exact"] is True
    assert found["labels"][0] == 1
    assert found["engine"] == "junction_tree"
    assert found["seconds"] >= 0.0


def test_marginals_and_log_z(graph, run):
    log_z = np.logaddexp.reduce(all_scores(graph).ravel())
    words = ("infer", "model.uai", "--evidence", "model.uai.evid", "--task")
    found = json.loads(run(*words, "marginals", "--json")[1])
    assert found["log_z"] == pytest.approx(log_z)
    assert found["marginals"][0] == [0.0, 1.0]
    assert all(sum(node) == pytest.approx(1.0) for node in found["marginals"])
    assert float(run(*words, "log-z")[1].split()[1]) == pytest.approx(log_z / np.log(10.0))
    assert run(*words, "marginals")[1].split()[:3] == ["MAR", "7", "2"]


def test_what_is_not_finite_is_null(graph, run):
    _, out, _ = run("infer", "model.uai", "--task", "log-z", "--engine", "gibbs", "--json")
    assert json.loads(out)["log_z"] is None


@pytest.mark.parametrize(
    ("words", "expected", "message"),
    [
        (["model.uai", "--engine", "magic"], 2, "--engine"),
        (["model.uai", "--task", "marginals", "--engine", "icm"], 2, "--engine"),
        (["model.uai", "--seconds", "-1"], 2, "--seconds"),
        (["model.uai", "--task", "sum"], 2, "--task"),
        (["model.uai.evid"], 1, "expected MARKOV or BAYES"),
        (["nothing.uai"], 1, "nothing.uai"),
        (["model.uai", "--evidence", "model.uai"], 1, "found 'MARKOV'"),
    ],
)
def test_what_cannot_be_is_refused_by_name(graph, run, words, expected, message):
    status, _, err = run("infer", *words)
    assert status == expected
    assert message in err


def test_files_in_other_encodings(graph, run, tmp_path):
    for name in ("model.uai", "model.uai.evid"):
        text = tmp_path.joinpath(name).read_text()
        tmp_path.joinpath(f"wide.{name}").write_text(text, encoding="utf-16")
    words = ("infer", "wide.model.uai", "--evidence", "wide.model.uai.evid")
    status, _, err = run(*words)
    assert status == 1
    assert "say --encoding utf-16" in err
    assert run(*words, "--encoding", "utf-16")[1] == run("infer", "model.uai", "--evidence", "model.uai.evid")[1]
