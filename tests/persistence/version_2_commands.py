"""Files of every format from which the command line trained a model of version 2, and files that it labels with it."""

import json
from typing import NamedTuple

from typer.testing import CliRunner

from structlearn.cli import app
from structlearn.io import Columns, ConllU, CrfSuite, Pairs
from tests.persistence import version_2_data as data


class Command(NamedTuple):
    """``structlearn train train.SUFFIX OPTIONS``: the texts of the training file, of a new one and of templates."""

    suffix: str
    options: str
    train: str
    new: str
    templates: str = ""


def written(form, X, Y):
    return "".join(form.write(x, y) for x, y in zip(X, Y, strict=True))


def bare(form, X):
    return written(form, X, [None] * len(X))


TWO_COLUMNS = Columns(("word", "pos"))
SHAPED = [[(word, "NNP" if word[0].isupper() else "x") for word in words] for words in data.WORDS]
NEW_SHAPED = [[(word, "NNP" if word[0].isupper() else "x") for word in words] for words in data.NEW_WORDS]
ATTRIBUTES = [[[f"w={word}", f"c={word[0].isupper()}"] for word in words] for words in data.WORDS]
NEW_ATTRIBUTES = [[[f"w={word}", f"c={word[0].isupper()}"] for word in words] for words in data.NEW_WORDS]
TEMPLATES = "U00:%x[0,0]\nU01:%x[-1,1]/%x[0,1]\nB01:%x[0,1]\nB\n"

NUMBERED = """\
1 qid:1 1:1 3:0.5
2 qid:1 2:1 3:0.25
1 qid:2 1:1
3 qid:2 4:2
2 qid:2 2:1
"""
NEW_NUMBERED = """\
1 qid:7 1:1 3:0.5
1 qid:7 4:1
2 qid:7 2:0.5 9:1
"""
JUDGED = """\
2 qid:1 1:0.9 2:0.1 3:0.3 #docid = a
0 qid:1 1:0.2 2:0.7 3:0.1 #docid = b
1 qid:1 1:0.5 2:0.3 3:0.9 #docid = c
0 qid:1 1:0.3 2:0.9 3:NULL #docid = d
1 qid:2 1:0.8 2:0.5 3:0.2 #docid = e
0 qid:2 1:0.6 2:0.8 3:0.7 #docid = f
2 qid:2 1:0.7 2:0.1 3:0.5 #docid = g
"""
NEW_JUDGED = """\
0 qid:3 1:0.1 2:0.2 3:0.3 #docid = h
0 qid:3 1:0.9 2:0.3 3:0.1 #docid = i
0 qid:3 1:0.5 2:0.9 3:0.4 #docid = j
"""
LABELLED_ROWS = """\
1 1:0.5 7:2
-1 2:1 7:0.5
1 1:0.25 2:0.1
-1 2:2
"""
NEW_LABELLED_ROWS = "1:1\n2:1 7:3 # unknown\n1:0.1 2:0.1 9:1\n"
JSON_ROWS = """\
{"features": {"size": 1, "sound": "purr"}, "label": "cat"}
{"features": {"size": 9, "sound": "moo"}, "label": "cow"}
{"features": {"size": 2, "sound": "bark"}, "label": "dog"}
"""
NEW_JSON_ROWS = '{"features": {"size": 8, "sound": "bark"}, "id": 1}\n{"features": {"size": 1.5}}\n'
JSON_TOKENS = """\
{"tokens": ["The", "dog", "sleeps"], "labels": ["DET", "NOUN", "VERB"]}
{"tokens": ["A", "cat", "purrs"], "labels": ["DET", "NOUN", "VERB"]}
{"tokens": ["Dogs", "bark"], "labels": ["NOUN", "VERB"]}
"""
NEW_JSON_TOKENS = '{"tokens": ["The", "cat", "barks"], "id": 7}\n{"tokens": ["Cats", "sleep"]}\n'
DOCUMENT = """\
#begin document (d); part 000
d 0 0 Ann - (0)
d 0 1 saw - -
d 0 2 her - (1|(0)
d 0 3 old - -
d 0 4 dog - 1)
d 0 5 . - -

d 0 0 She - (0)
d 0 1 fed - -
d 0 2 the - (1
d 0 3 dog - 1)
d 0 4 and - -
d 0 5 Bob - (2)
d 0 6 . - -

#end document
"""
NEW_TREES = """\
((S (NP (PRP it)) (VP (VBZ sees) (NP (DT a) (NN cat)) (PP (IN with) (NP (NN milk))))))
((S (FW zut) (UH alors)))
"""
NEW_DOCUMENT = DOCUMENT.replace("(d)", "(e)").replace("Bob", "Ann").replace("She", "He")
SITES = "".join(f">s{k} label={2 * y - 1:+}\n{x}\n" for k, (x, y) in enumerate(zip(data.DNA, data.BOUND, strict=True)))
NEW_SITES = "".join(f">n{k}\n{x}\n" for k, x in enumerate(data.NEW_DNA))

COMMANDS = {
    "command_columns": Command(
        "txt",
        "-c 10 --max-iter 3 --allowed-transitions BIO --min-count 4",
        written(TWO_COLUMNS, SHAPED, data.TAGS),
        bare(TWO_COLUMNS, NEW_SHAPED),
    ),
    "command_named_columns": Command(
        "txt",
        "--learner perceptron --max-iter 3 --columns word,_,chunk --n-hashed 16 --no-boundaries",
        written(TWO_COLUMNS, SHAPED, data.TAGS),
        written(TWO_COLUMNS, NEW_SHAPED, [["O"] * len(x) for x in NEW_SHAPED]),
        "word[-1..0]\nbias\n",
    ),
    "command_crfpp": Command(
        "txt",
        "--learner crf --max-iter 3",
        written(TWO_COLUMNS, SHAPED, data.TAGS),
        bare(TWO_COLUMNS, NEW_SHAPED),
        TEMPLATES,
    ),
    "command_conllu": Command(
        "conllu",
        "-c 10 --max-iter 3 --format conllu --label xpos",
        written(ConllU("xpos"), data.WORDS, data.TAGS),
        bare(ConllU("xpos"), data.NEW_WORDS),
        "form[0]\nform.suffix2[0]\n",
    ),
    "command_jsonl": Command(
        "jsonl", "--learner crf --max-iter 3", JSON_TOKENS, NEW_JSON_TOKENS, "word[0]\nword.shape[0]\n"
    ),
    "command_jsonl_rows": Command("jsonl", "--learner crf --max-iter 3", JSON_ROWS, NEW_JSON_ROWS),
    "command_svmlight": Command("txt", "-c 10 --solver one_slack --fit-intercept", LABELLED_ROWS, NEW_LABELLED_ROWS),
    "command_svmhmm": Command("txt", "-c 10 --eps 0.1 --order 2", NUMBERED, NEW_NUMBERED),
    "command_crfsuite": Command(
        "txt",
        "--learner latent --states 2 --max-iter 12 -c 10 --tol 0.3 --random-state 0",
        written(CrfSuite(), ATTRIBUTES, data.TAGS),
        bare(CrfSuite(), NEW_ATTRIBUTES),
    ),
    "command_letor": Command("txt", "-c 10 --max-iter 3 --loss ndcg --k 2", JUDGED, NEW_JUDGED),
    "command_letor_latent": Command("txt", "--learner latent -c 10 --tol 0.3 --k 2", JUDGED, NEW_JUDGED),
    "command_brackets": Command(
        "mrg",
        "-c 10 --max-iter 3 --horizontal 1",
        "".join(f"({tree})\n" for tree in data.TREES),
        NEW_TREES,
    ),
    "command_pairs": Command(
        "fasta",
        "-c 10 --max-iter 3 --gaps affine",
        written(Pairs(), data.PAIRS, data.MATCHES),
        "".join(f">{side}\n{letters}\n" for pair in data.NEW_PAIRS for side, letters in zip("st", pair, strict=True)),
    ),
    "command_conll2012": Command("conll", "-c 100 --tol 0.3 --r 0.5 --window 3", DOCUMENT, NEW_DOCUMENT),
    "command_conll2012_svm": Command("conll", "--learner svm -c 10 --max-iter 3 --decoder lp", DOCUMENT, NEW_DOCUMENT),
    "command_fasta": Command(
        "fasta", "--width 4 --background-order 0 --both-strands -c 100 --tol 0.3 --random-state 0", SITES, NEW_SITES
    ),
}


def run(*words):
    done = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def labelled(model, command, folder):
    """Which format the file says it is for, and what ``structlearn predict`` makes of the new file."""
    new, output = folder / f"new.{command.suffix}", folder / "predicted"
    new.write_text(command.new)
    run("predict", model, new, "-o", output)
    return {
        "reader": json.loads(run("inspect", model, "--top", 0, "--json"))["reader"],
        "predicted": output.read_text(),
    }
