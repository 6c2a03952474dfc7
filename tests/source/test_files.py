"""Rows in files: the same numbers whatever the format, the same blocks each time, one sentence for what is wrong."""

import decimal
import io
import sys
import threading
import tracemalloc

import numpy as np
import pyarrow
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from netlearn import FileSource, learn, teachers
from netlearn.errors import InputError, MissingExtraError
from netlearn.source import files
from netlearn.source.ahead import one_ahead

NAMES = ("a", "b", "c")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.standard_normal((1000, 3)), rng.standard_normal(1000)


def table(X, y):
    return pyarrow.table({**dict(zip(NAMES, X.T, strict=True)), "y": y})


def european(X, y):
    lines = [";".join([*NAMES, "y"]), *(";".join(map(repr, row)) for row in np.column_stack([X, y]).tolist())]
    return "\r\n".join(lines).replace(".", ",").encode()


def write_folder(folder, X, y):
    (folder / "deep").mkdir()
    for name, part in (("b.parquet", slice(400, 900)), ("a.parquet", slice(0, 400))):
        parquet.write_table(table(X[part], y[part]), folder / name, row_group_size=150)
    parquet.write_table(table(X[900:], y[900:]), folder / "deep" / "c.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "_note.parquet").touch()


def write(kind, folder, X, y):
    """Write the rows in one format; gives the arguments of FileSource."""
    both = np.column_stack([X, y])
    if kind == "parquet":
        parquet.write_table(table(X, y), folder / "t.parquet", row_group_size=300)
        return folder / "t.parquet", "y"
    if kind in ("folder", "pattern"):
        write_folder(folder, X, y)
        return (folder, "y") if kind == "folder" else (f"{folder}/**/[abc].parquet", "y")
    if kind == "csv":
        arrow_csv.write_csv(table(X, y), folder / "t.csv")
        return folder / "t.csv", "y"
    if kind == "european csv":
        (folder / "t.csv").write_bytes(european(X, y))
        return folder / "t.csv", "y"
    if kind == "headless csv":
        np.savetxt(folder / "t.csv", both, delimiter=",", fmt="%.17g")
        return folder / "t.csv", -1
    if kind == "npy":
        np.save(folder / "t.npy", both)
        return (folder / "t.npy",)
    if kind == "two npy":
        np.save(folder / "X.npy", np.asfortranarray(X))
        np.save(folder / "y.npy", y)
        return folder / "X.npy", folder / "y.npy"
    if kind == "npz":
        np.savez(folder / "t.npz", X=X, y=y)
    elif kind == "npz, compressed, in Fortran order":
        np.savez_compressed(folder / "t.npz", X=np.asfortranarray(X), y=y)
    else:
        np.savez(folder / "t.npz", both)
    return (folder / "t.npz",)


KINDS = [
    "parquet",
    "folder",
    "pattern",
    "csv",
    "european csv",
    "headless csv",
    "npy",
    "two npy",
    "npz",
    "npz, compressed, in Fortran order",
    "npz with one array",
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_the_rows_in_order_every_time(tmp_path, monkeypatch, rows, kind):
    monkeypatch.setattr(files, "CHUNK_ENTRIES", 4 * 170)  # chunks that divide neither rows nor row groups
    X, y = rows
    source = FileSource(*write(kind, tmp_path, X, y))
    assert (source.n_rows, source.n_features) == (1000, 3)
    named = kind in ("parquet", "folder", "pattern", "csv", "european csv")
    assert (source.feature_names, source.target) == ((NAMES, "y") if named else (None, None))
    for width in (0, 7):
        blocks = list(source.blocks(width))
        assert len(blocks) > 1
        np.testing.assert_array_equal(np.concatenate([part for part, _ in blocks]), X)
        np.testing.assert_array_equal(np.concatenate([part for _, part in blocks]), y)
    for part, whole in zip(source.arrays(), rows, strict=True):
        np.testing.assert_array_equal(part, whole)
        assert part.dtype == np.float64


def test_blocks_are_cut_for_the_cache_as_those_of_arrays(tmp_path):
    np.save(tmp_path / "t.npy", np.zeros((40_000, 17)))
    source = FileSource(tmp_path / "t.npy")
    assert [len(next(source.blocks(width))[1]) for width in (0, 16, 10**6)] == [2**17 // 16, 2**17 // 32, 512]


def test_columns_are_chosen_by_name_and_by_number(tmp_path, rows):
    X, y = rows
    path, _ = write("parquet", tmp_path, X, y)
    source = FileSource(path, target="b", features=["y", "a"])
    assert (source.feature_names, source.target) == (("y", "a"), "b")
    np.testing.assert_array_equal(source.arrays()[0], np.column_stack([y, X[:, 0]]))
    np.testing.assert_array_equal(source.arrays()[1], X[:, 1])
    several = FileSource(path, target=["y", -2])
    assert (several.feature_names, several.target) == (("a", "b"), ("y", "c"))
    np.testing.assert_array_equal(several.arrays()[1], np.column_stack([y, X[:, 2]]))
    assert FileSource(path, target=[]).arrays()[1].shape == (1000, 0)
    # Labels that the file holds apart are no features, also where no labels are wanted.
    np.savez(tmp_path / "t.npz", X=X, y=y)
    assert FileSource(tmp_path / "t.npz", target=[]).n_features == 3


def test_every_kind_of_number_becomes_float64(tmp_path):
    columns = {
        "bool": pyarrow.array([True, False]),
        "int8": pyarrow.array([-3, 5], pyarrow.int8()),
        "uint64": pyarrow.array([2**63, 2**53 + 1], pyarrow.uint64()),
        "half": pyarrow.array(np.array([0.5, 2.0], np.float16)),
        "single": pyarrow.array([0.1, 3.0], pyarrow.float32()),
        "decimal": pyarrow.array([decimal.Decimal("1.25"), decimal.Decimal("-7.50")]),
    }
    parquet.write_table(pyarrow.table({**columns, "y": [1.0, 2.0]}), tmp_path / "t.parquet")
    X, _ = FileSource(tmp_path / "t.parquet", target="y").arrays()
    expected = [[1, -3, 2.0**63, 0.5, np.float32(0.1), 1.25], [0, 5, 2.0**53, 2, 3, -7.5]]
    np.testing.assert_array_equal(X, expected)


SAME = [[1.5, -2.0, 3.0], [400.0, 0.25, 1e-3]]


@pytest.mark.parametrize(
    "data",
    [
        b"a,b,y\n1.5,-2,3\n400,.25,1e-3\n",
        b"\xef\xbb\xbfa;b;y\r\n1,5;-2;3\r\n400;0,25;1E-03\r\n\r\n\r\n",
        b'"a","b","y"\n"1.5","-2","3"\n"400","0.25","0.001"\n\n',
        b'"a";"b";"y"\n"1,5";"-2,0";"3"\n"4e2";"0,25";"0,001"',
        b"a\tb\ty\n1.5\t-2\t3\n400\t0.25\t0.001\n",
        b"a|b|y\n1.5|-2|3\n400|0.25|0.001\n",
        "a;b;y\n1,5;-2;3\n400;0,25;0,001\n".encode("utf-16"),
        b"sep=;\r\na;b;y\r\n1,5;-2;3\r\n400;0,25;0,001\r\n",
        b"a, b, y\n1.5, -2, 3\n400, 0.25, 0.001\n",
        b'a,text,b,y\n1.5,"one, ""two""\nthree",-2,3\n400,\xf6,0.25,0.001\n',
    ],
    ids=["plain", "european", "quoted", "both", "tabs", "bars", "utf-16", "announced", "spaces", "text"],
)
def test_csv_as_it_comes(tmp_path, data):
    (tmp_path / "t.csv").write_bytes(data)
    source = FileSource(tmp_path / "t.csv", target="y", features=["a", "b"])
    np.testing.assert_array_equal(np.column_stack(source.arrays()), SAME)
    assert source.n_rows == 2


def test_csv_names_in_the_encoding_of_windows_and_truth_values(tmp_path):
    (tmp_path / "t.csv").write_bytes("Größe;wahr;y\n1,5;true;0\n2;False;1\n".encode("cp1252"))
    source = FileSource(tmp_path / "t.csv", target="y")
    assert source.feature_names == ("Größe", "wahr")
    np.testing.assert_array_equal(source.arrays()[0], [[1.5, 1], [2, 0]])


def test_integers_that_become_fractions_far_below_are_read(tmp_path):
    n = 600_000  # several blocks of bytes
    (tmp_path / "t.csv").write_text("a,y\n" + "12345,6\n" * n + "0.5,7\n")
    source = FileSource(tmp_path / "t.csv", target="y")
    assert source.n_rows == n + 1
    *_, (X, y) = source.blocks()
    assert (X[-1, 0], y[-1]) == (0.5, 7.0)


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def parquet_bytes(**columns):
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), stream)
    return stream.getvalue()


OBJECTS = npy(np.array([[1, None]], dtype=object), allow_pickle=True)

BAD = {
    "empty csv": ("t.csv", b"", "y", "t.csv is empty"),
    "blank csv": ("t.csv", b"\r\n\r\n", "y", "t.csv is empty"),
    "header only": ("t.csv", b"a,y\n", "y", "t.csv has no rows"),
    "no text": ("t.csv", b"\x00\x01\xff\xfe", "y", "not a text file"),
    "missing target": ("t.csv", b"price,size\n1,2\n", "prise", 'got "prise" (did you mean "price"?)'),
    "no target": ("t.csv", b"price,size\n1,2\n", None, "must be given: one of its columns price, size"),
    "too large a number": ("t.csv", b"1,2\n3,4\n", "2", "which has 2, counted from 0; got 2"),
    "text": (
        "t.csv",
        b"a,city,y\n1,Ulm,3\n",
        "y",
        'column "city" holds text: "Ulm" in row 1. What',
    ),
    "text far below": (
        "t.csv",
        b"a,y\n" + b"1,2\n" * 2_000_000 + b"x,2\n",
        "y",
        'column "a" holds "x" in row 2,000,001, which is not a number',
    ),
    "dates": ("t.csv", b"a,y\n2020-01-01,3\n", "y", 'column "a" holds text: "2020-01-01" in row 1'),
    "empty cell": (
        "t.csv",
        b"a,y\n1,2\n,3\n",
        "y",
        'column "a" has 1 missing value, in row 2. What helps (options of FileSource): missing="drop"',
    ),
    "NA": ("t.csv", b"a,y\n1,2\n5,NA\n", "y", 'column "y" has 1 missing value, in row 2'),
    "infinity": ("t.csv", b"a,y\n1,2\ninf,3\n", "y", 'column "a" holds infinity in row 2'),
    "thousands": (
        "t.csv",
        b'a,y\n1,2\n"1,234.5",3\n',
        "y",
        'column "a" holds "1,234.5" in row 2. What helps: write numbers without',
    ),
    "thousands, european": ("t.csv", b"a;y\n1,5;2\n1.234,5;3\n", "y", "without a thousands separator"),
    "thousands with spaces": ("t.csv", b"a;y\n1,5;2\n1 234,5;3\n", "y", "without a thousands separator"),
    "both decimal signs": (
        "t.csv",
        b"a;y\n1,5;2\n2.5;3\n",
        "y",
        'column "a" holds "1,5" in row 1. What helps: write all numbers with',
    ),
    "duplicate names": ("t.csv", b"a,a,y\n1,2,3\n", "y", 'column "a" is there 2 times'),
    "an index": ("t.csv", b",a,y\n0,2,3\n", "y", "column 0 has no name"),
    "ragged": ("t.csv", b"a,y\n1,2\n\n1,2,3\n", "y", "3 cells in row 2, but 2 columns"),
    "ragged, announced": ("t.csv", b"sep=;\na;y\n1;2\n1;2;3\n", "y", "3 cells in row 2, but 2 columns"),
    "target alone": ("t.csv", b"y\n1\n2\n", "y", "no column for the features"),
    "spreadsheet": ("t.doc", b"PK", "y", "reads tables in .csv"),
    "no suffix": ("t", b"PK", "y", "got a name without suffix"),
    "no Parquet": ("t.parquet", b"PAR1", "y", "t.parquet is not a whole Parquet file"),
    "cut Parquet": ("t.parquet", parquet_bytes(a=[1.0], y=[2.0])[:-20], "y", "not a whole Parquet file"),
    "text in Parquet": (
        "t.parquet",
        parquet_bytes(a=["x"], y=[2.0]),
        "y",
        'column "a" holds text: "x" in row 1',
    ),
    "null in Parquet": (
        "t.parquet",
        parquet_bytes(a=[1, None], y=[2, 3]),
        "y",
        'column "a" has 1 missing value, in row 2',
    ),
    "empty Parquet": (
        "t.parquet",
        parquet_bytes(a=pyarrow.array([], "f8"), y=pyarrow.array([], "f8")),
        "y",
        "no rows",
    ),
    "no npy": ("t.npy", b"hello", None, "t.npy is not an npy file"),
    "cut npy": ("t.npy", npy(np.ones((9, 2)))[:-9], None, "t.npy is not a whole npy file"),
    "cut npy header": ("t.npy", npy(np.ones((9, 2)))[:9], None, "t.npy is not a whole npy file"),
    "objects": ("t.npy", OBJECTS, None, "does not unpickle"),
    "three axes": ("t.npy", npy(np.ones((2, 2, 2))), None, "rows and columns, got one of shape (2, 2, 2)"),
    "complex": ("t.npy", npy(np.ones((2, 2)) * 1j), None, "real numbers, got elements of type complex128"),
    "NaN in npy": (
        "t.npy",
        npy(np.array([[1.0, 2.0], [np.nan, 1.0]])),
        None,
        "column 0 has 1 missing value, in row 2",
    ),
    "name in npy": (
        "t.npy",
        npy(np.ones((2, 2))),
        "price",
        "which have no names and are counted from 0; got",
    ),
    "no npz": ("t.npz", b"hello", None, "t.npz is not a whole npz file"),
    "cut npz": ("t.npz", npz(X=np.ones((9, 2)), y=np.ones(9))[:-50], None, "t.npz is not a whole npz file"),
    "other arrays": ("t.npz", npz(p=np.ones((2, 2)), q=np.ones(2)), None, "two named X and y; got p, q"),
    "lengths": ("t.npz", npz(X=np.ones((3, 2)), y=np.ones(2)), None, "as many rows, got 3 and 2"),
    "objects in npz": ("t.npz", npz(X=np.array([[None]]), y=np.ones(1)), None, "does not unpickle"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    name, data, target, words = BAD[case]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as refusal:
        list(FileSource(name, target=target).blocks())
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert (tmp_path / name).read_bytes() == data


@pytest.mark.parametrize("path", ["missing.csv", ".", "*.parquet", "missing/*.parquet"])
def test_files_that_are_not_there(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="Cannot read"):
        FileSource(path, target="y")


def test_a_fault_in_one_of_many_files_is_placed_in_that_file(tmp_path, rows):
    X, y = rows[0].copy(), rows[1]
    X[404, 1] = np.inf
    write_folder(tmp_path, X, y)
    with pytest.raises(InputError, match=r'column "b" holds infinity in row 5 of .*b\.parquet'):
        FileSource(tmp_path, target="y").arrays()
    parquet.write_table(pyarrow.table({"a": [1.0], "c": [1.0], "y": [2.0]}), tmp_path / "d.parquet")
    with pytest.raises(InputError, match=r'd\.parquet has no column "b", which .*a\.parquet has'):
        FileSource(tmp_path, target="y")


def test_damage_inside_a_file_is_told_when_it_is_met(tmp_path, rows):
    path, _ = write("parquet", tmp_path, *rows)
    data = bytearray(path.read_bytes())
    data[100:4000] = b"\xff" * 3900
    path.write_bytes(data)
    with pytest.raises(InputError, match="not a whole Parquet file"):
        FileSource(path, target="y").arrays()


@pytest.mark.parametrize("data", [b"a,y\n1,2\n", b"a,y\n1,2\n3,4\n5,6\n"])
def test_a_file_that_changes_between_passes_is_refused(tmp_path, data):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,y\n1,2\n3,4\n")
    source = FileSource(path, target="y")
    assert source.n_rows == 2
    path.write_bytes(data)
    for read in (source.in_memory, lambda: list(source.blocks())):
        with pytest.raises(InputError, match=r"t\.csv changed while it was read: it had 2 rows"):
            read()


@pytest.mark.parametrize("name", ["t.feather", "t.parquet"])
def test_without_pyarrow_the_line_to_type_is_given(tmp_path, monkeypatch, name):
    (tmp_path / name).touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[files\]'"):
        FileSource(tmp_path / name, target="y")


# Reading ahead


def readers():
    return [thread for thread in threading.enumerate() if thread.name.startswith("netlearn-read")]


def test_the_reader_is_one_item_ahead_and_no_more():
    made, fetched = [], threading.Event()

    def numbers():
        for number in range(5):
            made.append(number)
            if number == 1:
                fetched.set()
            yield number

    items = one_ahead(numbers())
    assert next(items) == 0
    assert fetched.wait(10)
    assert made == [0, 1]
    assert list(items) == [1, 2, 3, 4]
    assert readers() == []


def test_an_error_comes_in_its_place():
    def numbers():
        yield 1
        raise InputError("broken")

    items = one_ahead(numbers())
    assert next(items) == 1
    with pytest.raises(InputError, match="broken"):
        next(items)
    assert readers() == []


def test_leaving_early_ends_thread_and_file(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(files, "CHUNK_ENTRIES", 400)
    source = FileSource(*write("parquet", tmp_path, *rows))
    blocks = source.blocks()
    next(blocks)
    assert len(readers()) == 1
    blocks.close()
    assert readers() == []
    assert sum(len(y) for _, y in source.blocks()) == 1000


@pytest.mark.parametrize("kind", ["parquet", "csv", "npy", "npz"])
def test_memory_does_not_grow_with_the_rows(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(files, "CHUNK_ENTRIES", 2**13)
    peaks = []
    for n in (20_000, 200_000):
        folder = tmp_path / str(n)
        folder.mkdir()
        X = np.arange(3.0 * n).reshape(n, 3)
        source = FileSource(*write(kind, folder, X, X[:, 0]))
        tracemalloc.start()
        for _ in source.blocks():
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] + 2**16
    # Negative control: reading all of it at once would show.
    assert peaks[1] < 200_000 * 4 * 8 / 4


# As a source of learn


def test_learning_from_a_file_is_learning_from_its_rows(tmp_path):
    network = teachers.random(2, 3, 0)
    X = np.random.default_rng(1).standard_normal((500, 3))
    y = network(X)
    result = learn(FileSource(*write("parquet", tmp_path, X, y)), rng=0)
    assert result.network == learn(X, y, rng=0).network
    assert result.network.distance(network) < 1e-12
    assert (result.names, result.target) == (NAMES, "y")
    np.save(tmp_path / "t.npy", np.column_stack([X, y]))
    unnamed = learn(FileSource(tmp_path / "t.npy"), rng=0)
    assert (unnamed.names, unnamed.target) == ((), "")
    with pytest.raises(InputError, match='"y" of learn must be left out'):
        learn(FileSource(tmp_path / "t.npy"), y)
    np.save(tmp_path / "t.npy", np.column_stack([X, y, 2 * y]))
    several = learn(FileSource(tmp_path / "t.npy", target=[3, 4]), n_hidden=2, rng=0)
    np.testing.assert_allclose(several.network(X), np.column_stack([y, 2 * y]), atol=1e-10)


@pytest.mark.parametrize("kind", ["parquet", "npy"])
def test_reading_begins_near_the_row_wanted(tmp_path, kind):
    rows = np.random.default_rng(0).standard_normal((1000, 3))
    if kind == "npy":
        np.save(tmp_path / "rows.npy", rows)
        source = FileSource(tmp_path / "rows.npy", target=2)
    else:
        folder = tmp_path / "rows"
        folder.mkdir()
        for number, part in enumerate((rows[:300], rows[300:300], rows[300:])):
            table = pyarrow.table({name: part[:, i] for i, name in enumerate("abc")})
            pyarrow.parquet.write_table(table, folder / f"{number}.parquet", row_group_size=70)
        source = FileSource(folder, target="c")
    for start in (0, 1, 69, 70, 299, 300, 301, 365, 999):
        X, y = (np.concatenate(parts) for parts in zip(*source.blocks(start=start), strict=True))
        np.testing.assert_array_equal(np.column_stack([X, y]), rows[start:])
        begun, chunks = source._table.chunks_from([0], 50, start)
        assert start - 70 < begun <= start
        np.testing.assert_array_equal(next(chunks)[0, 0], rows[begun, 0])
        chunks.close()


NUMBERED = ["y_0", "a", "y_1", "b", "my_y_2", "y_10", "z*", "zz"]
STARS = {
    "in the order of the file": ("y_*", ("y_0", "y_1", "y_10")),
    "anywhere": ("*y_*", ("y_0", "y_1", "my_y_2", "y_10")),
    "at the start": ("*_1", ("y_1",)),
    "in the middle": ("y*0", ("y_0", "y_10")),
    "beside others": (["b", "y_*"], ("b", "y_0", "y_1", "y_10")),
    "part of a name": ("z*", ("z*",)),
}


@pytest.mark.parametrize("case", STARS)
def test_a_star_stands_for_any_text(tmp_path, case):
    target, names = STARS[case]
    rows = np.random.default_rng(0).standard_normal((20, len(NUMBERED)))
    parquet.write_table(pyarrow.table(dict(zip(NUMBERED, rows.T, strict=True))), tmp_path / "t.parquet")
    source = FileSource(tmp_path / "t.parquet", target=target)
    assert source.target in (names, *names)
    assert source.n_outputs == len(names)
    assert source.feature_names == tuple(name for name in NUMBERED if name not in names)
    columns = rows[:, [NUMBERED.index(name) for name in names]]
    # A name alone is one output, be it found by a star.
    np.testing.assert_array_equal(source.arrays()[1], columns[:, 0] if len(names) == 1 else columns)
    features = FileSource(tmp_path / "t.parquet", target="b", features=["zz", "y_*"])
    assert features.feature_names == ("zz", "y_0", "y_1", "y_10")


@pytest.mark.parametrize(("target", "words"), [("q*", 'got "q\\*"'), (["y_0", "y_*"], "chosen twice")])
def test_stars_that_match_nothing_or_twice_are_refused(tmp_path, target, words):
    rows = np.zeros((5, len(NUMBERED)))
    parquet.write_table(pyarrow.table(dict(zip(NUMBERED, rows.T, strict=True))), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=words):
        FileSource(tmp_path / "t.parquet", target=target)
