"""Trains two models, writes their reports and photographs them for docs/report.md.

    python docs/report/screenshots.py FOLDER

It needs the CoNLL-2000 and the letters data (see `structlearn.datasets`), selenium, and Debian's chromium and
chromium-driver. The reports themselves, conll2000.html and letters.html, are written to FOLDER.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from sklearn.pipeline import make_pipeline

from structlearn import StructuralSVM
from structlearn.datasets import fetch_conll2000, fetch_letters
from structlearn.features import TextFeatures
from structlearn.models import Chain
from structlearn.report import write_report

HERE = Path(__file__).parent
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --disable-dev-shm-usage --no-first-run --hide-scrollbars "
    "--disable-background-networking --disable-component-update --disable-sync"
)
DESKTOP, PHONE = 1180, 390

#: Name of the picture, report, width, theme, where it begins, and its height.
PICTURES = [
    ("top", "conll2000", DESKTOP, "light", "header", 860),
    ("scores", "conll2000", DESKTOP, "light", "#scores", 620),
    ("confusions", "conll2000", DESKTOP, "light", "#confusions", 850),
    ("mistakes", "conll2000", DESKTOP, "light", "#mistakes", 900),
    ("transitions", "conll2000", DESKTOP, "dark", "#transitions", 900),
    ("features", "conll2000", DESKTOP, "light", "#features", 800),
    ("training", "conll2000", DESKTOP, "light", "#training", 640),
    ("letters", "letters", DESKTOP, "light", "#mistakes", 760),
    ("letter-weights", "letters", DESKTOP, "dark", "#features", 470),
    ("learning-curve", "letters", DESKTOP, "light", "#learning-curve", 560),
    ("phone", "conll2000", PHONE, "light", "header", 844),
    ("phone-mistakes", "conll2000", PHONE, "dark", "#mistakes", 844),
    ("phone-letters", "letters", PHONE, "light", "#mistakes", 844),
]


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write_chunking(folder / "conll2000.html")
    write_letters(folder / "letters.html")
    with tempfile.TemporaryDirectory() as profile:
        browser = opened(profile)
        for name, report, width, theme, place, height in PICTURES:
            page = (folder / f"{report}.html").resolve().as_uri()
            image = photograph(browser, page, width, theme, place, height)
            (HERE / f"{name}.webp").write_bytes(image)
            print(f"{name}.webp: {len(image) / 1000:.0f} kB")
        browser.quit()


def write_chunking(path: Path) -> None:
    train, test = fetch_conll2000("train"), fetch_conll2000("test")
    chunker = make_pipeline(TextFeatures(columns=("word", "pos")), StructuralSVM(Chain())).fit(train.X, train.Y)
    begin = time.perf_counter()
    chunker.predict(test.X)
    middle = time.perf_counter()
    write_report(path, chunker, test.X, test.Y, title="Chunking English sentences", data_name="CoNLL-2000 test")
    seconds = time.perf_counter() - middle
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, {seconds:.1f} s (prediction alone: {middle - begin:.1f} s)")


def write_letters(path: Path) -> None:
    data = fetch_letters()
    train, test = (
        tuple([part[i] for i in np.flatnonzero(which)] for part in (data.X, data.Y))
        for which in (data.folds != 0, data.folds == 0)
    )
    reader = StructuralSVM(Chain()).fit(*train)
    options = {"title": "Reading handwritten words", "data_name": "OCR letters, fold 0", "picture": (16, 8)}
    write_report(path, reader, *test, learning_curve=train, **options)


def opened(profile: str) -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*FLAGS.split(), f"--user-data-dir={profile}"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def photograph(browser: webdriver.Chrome, page: str, width: int, theme: str, place: str, height: int) -> bytes:
    size: dict[str, Any] = {"width": width, "height": height, "deviceScaleFactor": 1.5, "mobile": width == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(page)
    top = browser.execute_script("return document.querySelector(arguments[0]).getBoundingClientRect().top", place)
    clip = {"x": 0, "y": max(0, top), "width": width, "height": height, "scale": 1}
    options = {"format": "webp", "quality": 82, "captureBeyondViewport": True, "clip": clip}
    return base64.b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", options)["data"])


if __name__ == "__main__":
    main()
