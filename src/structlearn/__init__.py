"""structlearn: learning to predict label sequences and other structured outputs with large margins.

>>> from structlearn import StructuralSVM
>>> from structlearn.models import Chain
>>> tagger = StructuralSVM(Chain())
"""

from structlearn.estimators import ConditionalRandomField, HiddenMarkov, StructuralSVM, StructuredPerceptron
from structlearn.io.model_file import load

__version__ = "0.1.0"

__all__ = ["ConditionalRandomField", "HiddenMarkov", "StructuralSVM", "StructuredPerceptron", "__version__", "load"]
