"""One page of HTML about a fitted estimator, for people who did not train it."""

from structlearn.report.page import write_report

__all__ = ["write_report"]
