"""Tables as people have them, each with what must come of it: a model, or one message that names every problem."""

import datetime
import gzip
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
from pyarrow import feather, parquet

N = 60


def frame() -> pd.DataFrame:
    """Sixty good rows: two numbers, a text, a truth value and a label that depends on all of them."""
    rng = np.random.default_rng(0)
    made = pd.DataFrame({"size": rng.normal(80, 10, N).round(1), "age": rng.integers(1, 60, N).astype(float)})
    made["city"] = np.resize(["Ulm", "Bonn", "Köln"], N)
    made["new"] = np.resize([True, False, False, True], N)
    made["price"] = (
        np.abs(made["size"] - 75) + 0.5 * made["age"] + 10.0 * (made["city"] == "Ulm") + made["new"]
    )
    return made


def with_cells(cells: dict[tuple[int, str], object], columns=None) -> pd.DataFrame:
    """Return the good rows with other cells here and there."""
    made = frame().astype(object)
    for (row, column), cell in cells.items():
        made.loc[row, column] = cell
    return made if columns is None else made[columns]


def csv(made: pd.DataFrame, path: str = "t.csv", **options) -> str:
    made.to_csv(path, index=options.pop("index", False), **options)
    return path


def text(content: str | bytes, path: str = "t.csv") -> str:
    Path(path).write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def jsonl(made: pd.DataFrame, path: str = "t.jsonl") -> str:
    lines = [json.dumps({k: v for k, v in row.items() if v == v}) for row in made.to_dict("records")]
    data = ("\n".join(lines) + "\n").encode()
    Path(path).write_bytes(gzip.compress(data) if path.endswith(".gz") else data)
    return path


def xlsx(made: pd.DataFrame, path: str = "t.xlsx") -> str:
    """Write a workbook with one sheet; the least that the format asks for."""
    rows = []
    for row in [made.columns.tolist(), *made.to_numpy(dtype=object).tolist()]:
        rows.append("".join(_cell(value) for value in row))
    sheet = "".join(f"<row>{row}</row>" for row in rows)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    doc = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType="application/vnd.'
            f'openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="{kind}'
            f'.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/>'
            "</Types>",
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{doc}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{doc}"><sheets><sheet name="s" sheetId="1" r:id="r1"/></sheets>'
            "</workbook>",
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{doc}/worksheet" '
            'Target="worksheets/sheet1.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/worksheets/sheet1.xml",
            f'<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData></worksheet>',
        )
    return path


def _cell(value: object) -> str:
    if value is None or value != value:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def parquet_file(made: pd.DataFrame, path: str = "t.parquet") -> str:
    parquet.write_table(pyarrow.Table.from_pandas(made, preserve_index=False), path)
    return path


def feather_file(made: pd.DataFrame, path: str = "t.feather") -> str:
    feather.write_feather(made, path)
    return path


@dataclass(frozen=True)
class Case:
    """A table, the options it is read with, and what comes of it.

    Attributes
    ----------
    make : callable
        Writes the file into this folder and gives its path, or gives a frame.
    options : dict
        Of `FileSource`.
    names : tuple of str
        Features of the model; empty where it is refused.
    problems : tuple of str
        What the one message must say.
    n_rows : int
        Rows that are learned from.
    target : str or int
    """

    make: Callable[[], Any]
    options: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    n_rows: int = N
    target: str | int = "price"


NUMBERS = ("size", "age", "new")
CITIES = ("city=Bonn", "city=Köln", "city=Ulm")
ALL = ("size", "age", *CITIES, "new")
ONEHOT = {"encode": "onehot"}
NO_TEXT = {"drop": ["city"]}
GAPS = {(3, "age"): None, (7, "age"): "n/a", (9, "size"): "-", (11, "city"): "?"}
WAYS = ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "-", "?", " NA ", "#N/A"]

CSV_CASES = {
    "text column": Case(lambda: csv(frame()), problems=('column "city" holds text: "Ulm" in row 1',)),
    "text column, dropped": Case(lambda: csv(frame()), NO_TEXT, NUMBERS),
    "text column, by a pattern": Case(lambda: csv(frame()), {"drop": "c*"}, NUMBERS),
    "columns kept by a pattern": Case(lambda: csv(frame()), {"keep": ["*e"]}, ("size", "age")),
    "kept and dropped": Case(lambda: csv(frame()), {"keep": "*", "drop": ["city", "new"]}, ("size", "age")),
    "text column, encoded": Case(lambda: csv(frame()), ONEHOT, ALL),
    "identifiers": Case(
        lambda: csv(frame().assign(id=[f"H{i}" for i in range(N)]).pipe(lambda f: pd.concat([f, f, f]))),
        {},
        problems=('column "city" holds text', 'column "id" holds text'),
    ),
    "identifiers, encoded": Case(
        lambda: csv(pd.concat([frame()] * 2).assign(id=[f"H{i}" for i in range(2 * N)])),
        ONEHOT,
        problems=('column "id" holds more than 100 different texts',),
    ),
    "every way to say missing": Case(
        lambda: csv(
            with_cells({(row, "age"): way for row, way in enumerate(WAYS)}, ["size", "age", "price"])
        ),
        {"missing": "drop"},
        ("size", "age"),
        n_rows=N - len(WAYS),
    ),
    "gaps": Case(
        lambda: csv(with_cells(GAPS)),
        NO_TEXT,
        problems=(
            'column "size" has 1 missing value, in row 10',
            'column "age" has 2 missing values, in rows 4, 8',
        ),
    ),
    "gaps, dropped": Case(
        lambda: csv(with_cells(GAPS)), {**NO_TEXT, "missing": "drop"}, NUMBERS, n_rows=N - 3
    ),
    "gaps, filled": Case(lambda: csv(with_cells(GAPS)), {**NO_TEXT, "missing": "mean"}, NUMBERS),
    "gaps in text, filled": Case(lambda: csv(with_cells(GAPS)), {**ONEHOT, "missing": "mean"}, ALL),
    "missing labels, filled elsewhere": Case(
        lambda: csv(with_cells({**GAPS, (20, "price"): "NA"})),
        {**ONEHOT, "missing": "mean"},
        ALL,
        n_rows=N - 1,
    ),
    "everything at once": Case(
        lambda: csv(with_cells({**GAPS, (12, "size"): "12 m", (13, "price"): "?", (14, "age"): "inf"})),
        problems=(
            'column "size" has 1 missing value, in row 10',
            'column "size" holds "12 m" in row 13',
            'column "age" has 2 missing values, in rows 4, 8',
            'column "age" holds infinity in row 15',
            'column "city" holds text: "Ulm" in row 1',
            'column "city" has 1 missing value, in row 12',
            'column "price" has 1 missing value, in row 14',
        ),
    ),
    "more gaps than are listed": Case(
        lambda: csv(with_cells({(row, "age"): "" for row in range(30)}, ["size", "age", "price"])),
        problems=('column "age" has 30 missing values, in rows 1, 2, 3, 4, 5 and 25 more',),
    ),
    "ragged rows and a bad cell": Case(
        lambda: text("a,b,y\n" + "1,2,3\n4,5,6\n" * 20 + "1,2\n1,2,3,4\nx,2,3\n"),
        target="y",
        problems=("2 cells in row 41, 4 cells in row 42, but 3 columns", 'column "a" holds "x" in row 43'),
    ),
    "thousands and decimals": Case(
        lambda: text("a;b;y\n" + "1,5;2;3\n2,5;1;4\n" * 20 + "1.234,5;2;3\n1,5;2.5;3\n"),
        target="y",
        problems=('column "a" holds "1,5" in row 1, "2,5" in row 2', 'column "a" holds "1.234,5" in row 41'),
    ),
    "semicolons, commas, BOM and gaps": Case(
        lambda: csv(with_cells(GAPS), sep=";", decimal=",", encoding="utf-8-sig"),
        {**ONEHOT, "missing": "mean"},
        ALL,
    ),
    "Windows text": Case(lambda: csv(frame(), sep=";", encoding="cp1252"), ONEHOT, ALL),
    "UTF-16": Case(lambda: csv(frame(), sep="\t", encoding="utf-16"), ONEHOT, ALL),
    "an index without a name": Case(
        lambda: csv(frame(), index=True),
        problems=("column 0 has no name", 'column "city" holds text'),
    ),
    "an index, dropped by number": Case(lambda: csv(frame(), index=True), {**ONEHOT, "drop": 0}, ALL),
    "a separator at the end of lines": Case(
        lambda: text("a;b;y;\n" + "".join(f"{i};{i % 7};{abs(i - 20)};\n" for i in range(N))),
        {},
        ("a", "b"),
        target="y",
    ),
    "two columns of a name": Case(
        lambda: csv(frame().set_axis(["size", "size", "city", "new", "price"], axis=1)),
        problems=('column "size" is there 2 times', 'column "city" holds text'),
    ),
    "an empty column": Case(
        lambda: csv(frame().assign(note="")),
        {**ONEHOT, "missing": "mean"},
        problems=('column "note" is empty',),
    ),
    "a text target": Case(
        lambda: csv(frame().drop(columns="price").rename(columns={"city": "price"})),
        problems=('column "price" is the target, but holds text: "Ulm" in row 1',),
    ),
    "no header, gaps": Case(
        lambda: csv(with_cells(GAPS)[["size", "age", "price"]], header=False),
        {"missing": "mean"},
        ("", ""),
        target=-1,
    ),
    "no header, text": Case(lambda: csv(frame(), header=False), ONEHOT, ("",) * 6, target=-1),
    "years for names": Case(
        lambda: csv(frame()[["size", "age", "price"]].set_axis(["2019", "2020", "price"], axis=1)),
        {},
        ("2019", "2020"),
    ),
    "spaces around": Case(
        lambda: text("a , b , y\n" + "".join(f" {i} , NA ,{abs(i - 20)} \n {i} ,1, 2\n" for i in range(30))),
        {"missing": "mean"},
        ("a", "b"),
        target="y",
    ),
    "truth values": Case(lambda: csv(frame()[["size", "new", "price"]]), {}, ("size", "new")),
    "csv.gz": Case(lambda: csv(frame(), "t.csv.gz"), ONEHOT, ALL),
    "csv.gz, gaps": Case(
        lambda: csv(with_cells(GAPS), "t.csv.gz"), {**ONEHOT, "missing": "drop"}, ALL, n_rows=N - 4
    ),
    "csv.gz, cut": Case(
        lambda: text(Path(csv(frame(), "t.csv.gz")).read_bytes()[:-40], "t.csv.gz"),
        problems=("t.csv.gz cannot be",),
    ),
}

OTHER_CASES = {
    "jsonl": Case(lambda: jsonl(frame()), ONEHOT, ALL),
    "jsonl.gz with absent keys": Case(
        lambda: jsonl(with_cells({(3, "age"): float("nan")}), "t.jsonl.gz"),
        {**ONEHOT, "missing": "drop"},
        ALL,
        n_rows=N - 1,
    ),
    "jsonl with lists and text": Case(
        lambda: jsonl(frame().assign(tags=[["a"]] * N)),
        problems=('column "tags" holds values of type list', 'column "city" holds text'),
    ),
    "ndjson with words for numbers": Case(
        lambda: jsonl(with_cells({(5, "age"): "old", (6, "age"): None}), "t.ndjson"),
        ONEHOT,
        problems=('column "age" holds "old" in row 6', 'column "age" has 1 missing value, in row 7'),
    ),
    "feather": Case(lambda: feather_file(frame()), ONEHOT, ALL),
    "feather, gaps and dates": Case(
        lambda: feather_file(
            frame().assign(age=frame()["age"].where(frame().index != 4), when=pd.Timestamp(0))
        ),
        ONEHOT,
        problems=(
            'column "when" holds values of type timestamp',
            'column "age" has 1 missing value, in row 5',
        ),
    ),
    "Parquet, categories and gaps": Case(
        lambda: parquet_file(
            frame().assign(city=frame()["city"].astype("category").where(frame().index != 2))
        ),
        {**ONEHOT, "missing": "mean"},
        ALL,
    ),
    "Parquet, text and gaps": Case(
        lambda: parquet_file(frame().assign(age=frame()["age"].where(frame().index > 1))),
        problems=(
            'column "city" holds text: "Ulm" in row 1',
            'column "age" has 2 missing values, in rows 1, 2',
        ),
    ),
    "xlsx": Case(lambda: xlsx(frame()), ONEHOT, ALL),
    "xlsx, gaps and a bad cell": Case(
        lambda: xlsx(with_cells({(1, "age"): None, (2, "size"): "big"})),
        ONEHOT,
        problems=('column "age" has 1 missing value, in row 2', 'column "size" holds "big" in row 3'),
    ),
    "pandas frame": Case(frame, ONEHOT, ALL),
    "pandas frame, gaps and text": Case(
        lambda: with_cells(GAPS),
        problems=(
            'column "size" has 1 missing value, in row 10',
            'column "age" has 2 missing values',
            'column "city" holds text',
            'column "city" has 1 missing value',
        ),
    ),
    "pandas frame, its own kinds of gaps": Case(
        lambda: frame().assign(
            age=frame()["age"].astype("Int64").where(frame().index > 1), city=None, when=np.nan
        ),
        {"missing": "mean", "drop": ["city", "when"]},
        NUMBERS,
    ),
    "pandas frame, dates": Case(
        lambda: frame().assign(when=datetime.date(2020, 1, 1), then=pd.Timestamp(0)),
        ONEHOT,
        problems=('column "when" holds values of type date', 'column "then" holds values of type datetime64'),
    ),
    "polars frame, gaps": Case(
        lambda: pl.from_pandas(frame()).with_columns(
            age=pl.when(pl.int_range(pl.len()) > 2).then("age"), city=pl.col("city").cast(pl.Categorical)
        ),
        {**ONEHOT, "missing": "drop"},
        ALL,
        n_rows=N - 3,
    ),
    "polars frame, lists and text": Case(
        lambda: pl.from_pandas(frame()).with_columns(tags=pl.lit([1.0])),
        problems=('column "tags" holds values of type List', 'column "city" holds text'),
    ),
}

CASES = CSV_CASES | OTHER_CASES
