"""`python -m structlearn` is the command `structlearn`."""

from structlearn.cli import main

if __name__ == "__main__":
    main()
