"""Model files and checkpoints: written whole or not at all, read without running code."""

from structlearn.persistence.model_file import load, save

__all__ = ["load", "save"]
