"""The tasks of the race against other programs, a file each, and the page of results; `race.py` runs them."""
