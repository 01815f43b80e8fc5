"""All abuses, or some of them, each in a process whose end is seen: ``python -m tests.abuse.run --every 10``."""

import argparse

from tests.abuse.contract import outcome_of
from tests.abuse.tables import cases
from tests.fuzz.children import watched


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="run only every so many cases")
    parser.add_argument("--only", type=int, help="the number of one case")
    options = parser.parse_args()
    table = cases()
    numbers = range(0, len(table), options.every) if options.only is None else [options.only]
    found = watched(numbers, lambda k: outcome_of(table[k]))
    for k, details in found.failures:
        print(f"--- {k} {table[k]}\n{details}")
    print(found.told("abuses"))
    raise SystemExit(bool(found.failures))


if __name__ == "__main__":
    main()
