"""What chapter 6 of Yu's thesis (2011) prints of the kernel machines."""

from __future__ import annotations

from typing import Any

#: Tables 6.2, 6.3 and 6.4 of the thesis; CCAT stands beside our NEWS, and is other data.
ACCURACY: dict[str, tuple[Any, ...]] = {
    "exact": (84.4, 95.1, 99.8, 99.4, 98.6),
    "CPSP": (84.5, 95.0, 99.8, 99.3, 98.5),
    "CPSP(tr)": (84.1, 93.5, 99.8, 99.2, 97.9),
    "NYSTROM": (84.3, 92.5, 99.7, 99.1, 97.0),
    "INCCHOL": (84.0, 92.1, 99.7, 98.9, 97.0),
}
VECTORS: dict[str, tuple[Any, ...]] = {
    "exact": (7125, 28748, 2786, 9243, 19309),
    "CPSP": (10, 200, 20, 500, 500),
    "CPSP(tr)": (50, 5000, 50, 500, 2000),
    "NYSTROM": (50, ">5000", 100, 1000, 5000),
    "INCCHOL": (50, ">2000", 100, 2000, ">2000"),
}
SECONDS: dict[str, tuple[Any, ...]] = {
    "exact": (56, 9272, 400, 1175, 4629),
    "CPSP": (6, 225, 11, 2728, 465),
    "CPSP(tr)": (30, 88873, 57, 2178, 8967),
    "NYSTROM": (10, ">2281", 37, 1572, 2270),
    "INCCHOL": (14, ">21673", 66, 59454, ">12330"),
}
#: Training and test error and seconds of Table 6.1; training errors of Covertype are not legible in the copy at hand.
TABLE_1: dict[tuple[str, float], dict[str, tuple[str, str, str]]] = {
    ("checkerboard 1000000", 1.0): {
        "sampled 400": ("2.90", "2.99", "60,101"),
        "sampled 1000": ("2.89", "2.95", "151,759"),
        "Cholesky 250": ("3.11", "3.32", "2,447"),
        "exact": ("2.87", "2.94", "36,533"),
    },
    ("Adult 22697", 100.0): {
        "sampled 400": ("7.43", "10.19", "11,136"),
        "sampled 1000": ("7.44", "10.19", "15,191"),
        "Cholesky 250": ("15.10", "15.09", "604"),
        "Cholesky 500": ("14.60", "14.50", "537"),
        "exact": ("7.52", "10.37", "11,630"),
    },
    ("Covertype 15000", 1.0): {
        "sampled 400": ("", "18.28", "62,184"),
        "sampled 1000": ("", "18.22", "155,196"),
        "Cholesky 250": ("21.73", "21.85", "1,937"),
        "Cholesky 500": ("20.29", "20.35", "3,093"),
        "exact": ("17.87", "18.09", "273,021"),
    },
}
