"""How many threads commands take."""

import pytest

from structlearn.models.composed import ComposedProblem


@pytest.fixture
def threads(monkeypatch):
    """How many threads predictions took."""
    taken = []
    best = ComposedProblem.best

    def noted(self, w, examples):
        taken.append(self.n_threads)
        return best(self, w, examples)

    monkeypatch.setattr(ComposedProblem, "best", noted)
    return taken


@pytest.mark.parametrize(
    "words",
    [
        ["predict", "tagger.slm", "test.txt"],
        ["evaluate", "tagger.slm", "test.txt", "--json"],
        ["compare", "tagger.slm", "tagger.slm", "test.txt", "--json"],
        pytest.param(["report", "tagger.slm", "test.txt", "-o", "report.html"], marks=pytest.mark.slow),
    ],
    ids=lambda words: words[0],
)
def test_commands_take_the_threads_that_they_are_given(words, tagger, run, threads):
    alone = run(*words)
    assert set(threads) == {1}
    threads.clear()
    assert run(*words, "--n-jobs", "3") == alone
    assert set(threads) == {3}


def test_a_number_of_threads_that_means_nothing_is_refused_before_files_are_read(folder, run):
    status, _, told = run("predict", "missing.slm", "--n-jobs", "0")
    assert status == 2
    assert "n_jobs is 0; give a number of threads, or -1 for all cores" in " ".join(told.split())
