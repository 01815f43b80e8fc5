"""Learners of one function f(x): the binary SVM and the binary perceptron, and what `regularized_risk` shares."""
