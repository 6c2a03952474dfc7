"""Draw the first screen of a report, as README and docs show it.

python docs/images/report.py    # writes report.png beside this script; needs Chromium
"""

import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from netlearn import learn
from netlearn.result import LearnResult

HERE = Path(__file__).parent
WIDTH, HEIGHT = 960, 1120


def prices() -> LearnResult:
    """Learn made-up prices of flats, in raw units, with noise."""
    rng = np.random.default_rng(2)
    Z = rng.standard_normal((6_000, 5))
    rich, far = np.maximum(Z[:, 0] + 0.4 * Z[:, 1] - 0.3, 0.0), np.maximum(Z[:, 3] + 0.5, 0.0)
    price = 210.0 + 55.0 * rich + 18.0 * Z[:, 1] - 30.0 * far + 20.0 * rng.standard_normal(6_000)
    X = Z * [14_000.0, 1.3, 17.0, 6.0, 1.6] + [48_000.0, 4.2, 31.0, 12.0, 2.0]
    names = ("income", "rooms", "age", "distance_km", "floor")
    return replace(learn(X, price, rng=0), names=names, target="price")


def main() -> None:
    """Write the report, and let the browser take a picture of its top."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        raise SystemExit("This picture needs Chromium.")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        prices().report(page)
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/profile",
            f"--window-size={WIDTH},{HEIGHT}",
            f"--screenshot={HERE / 'report.png'}",
        ]
        subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    main()
