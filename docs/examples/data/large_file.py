"""
A file larger than memory, in small
===================================

Rows that do not fit into memory are left in the file. A random part of them is held, units are looked for
there, and the last refinement passes over all rows, one block at a time. A run that is cut off goes on where it
was. The file here has 280 MB, small enough for a page and just large enough to be streamed.
"""

import shutil
import tempfile
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from netlearn import FileSource, learn, teachers
from netlearn.report import figures
from netlearn.words import step_name

# %%
# The file
# --------
#
# A folder of Parquet files, as a cluster would leave it: 350,000 rows of 200 features in single precision,
# labels of five planted units.

rng = np.random.default_rng(0)
d, n_files, rows_in_each = 200, 7, 50_000
target = teachers.random(5, d, rng)
folder = Path(tempfile.mkdtemp())
for part in range(n_files):
    X = rng.standard_normal((rows_in_each, d), dtype=np.float32)
    columns = {f"x{j}": X[:, j] for j in range(d)}
    table = pa.table({**columns, "y": target(X.astype(float))})
    pq.write_table(table, folder / f"part{part}.parquet", compression="none", use_dictionary=False)
in_file = sum(path.stat().st_size for path in folder.iterdir())
print(f"{in_file / 1e6:.0f} MB in {n_files} files")

# %%
# A run that is cut off
# ---------------------
#
# ``checkpoint`` names a folder for what is worth keeping. To play a power cut, the callback for progress
# raises an exception when the last refinement begins.


class PowerCutError(Exception):
    """Something that ends the run."""


before = []


def cut_at_the_last_fit(progress):
    """Let the run go on until the refinement."""
    before.append(progress)
    if progress.step == "fit":
        raise PowerCutError


data = FileSource(folder, target="y")
saved = folder.with_suffix(".checkpoint")
try:
    learn(data, n_hidden=5, rng=0, checkpoint=saved, progress=cut_at_the_last_fit)
except PowerCutError:
    kept = sum(path.stat().st_size for path in saved.rglob("*") if path.is_file())
    print(f"cut off; the checkpoint keeps {kept / 1e6:.0f} MB")

# %%
# The same line again
# -------------------
#
# The rows that are held and the search come from the checkpoint. Only the pass over all rows remains. The
# network is the same as without the cut, to the last digit.

after = []
result = learn(data, n_hidden=5, rng=0, checkpoint=saved, progress=after.append)
print(next(progress.message for progress in after if "checkpoint" in progress.message))
print(result.status.name, f"relative error {target.distance(result.network) / target.norm():.0e}")

# %%
# Rows to learn from, to choose by and to certify with are held; the refinement saw all others too.

for part, n_rows in result.diagnostics.rows.items():
    print(f"{step_name(part):12} {n_rows:8,} rows")

# %%
# Where the time went, in the two runs:

colours = {
    "samples": figures.GREY,
    "moments": figures.PURPLE,
    "subspace": figures.GREEN,
    "search": figures.ORANGE,
    "fit": figures.BLUE,
    "certify": figures.VERMILION,
}
figure, ax = plt.subplots(figsize=(8, 2.6), layout="constrained")
for place, heard in enumerate((after, before)):
    for this, following in pairwise(heard):
        ax.barh(place, following.seconds - this.seconds, left=this.seconds, color=colours[this.step])
ax.plot(before[-1].seconds, 1, "kx", markersize=10, markeredgewidth=2)
for step, colour in colours.items():
    ax.barh(0, 0, color=colour, label=step_name(step))
ax.set_yticks([0, 1], ["resumed", "cut off"])
ax.set(xlabel="seconds, by step")
figure.legend(loc="outside upper center", ncols=6)

shutil.rmtree(folder)
shutil.rmtree(saved)
