"""Writes tapes with h5py from docs/tape.md alone and lets the library read them: good ones of many
shapes, and damaged ones, each of which has to be refused with a text that names the fault.

usage: check_foreign.py STORE_TOOL FOLDER
exit status 77 (skipped) where h5py is missing"""
import os
import subprocess
import sys

try:
    import h5py
    import numpy as np
except ImportError:
    print("skipped: this Python has no h5py")
    sys.exit(77)

RECORD = [("time_ns", "<i8"), ("ref", "<i4"), ("price", "<i4"), ("qty", "<i4"), ("arg", "<i4"),
          ("row", "<i4"), ("owner", "<i2"), ("type", "u1"), ("flags", "u1")]
SEED = [("ref", "<i4"), ("price", "<i4"), ("qty", "<i4"), ("arrival", "<i4"), ("owner", "<i2"),
        ("side", "u1")]
ROW = [("time_ns", "<i8"), ("id", "<i8"), ("price", "<i8"), ("size", "<i4"), ("type", "u1"),
       ("direction", "i1"), ("participant", "<u2")]
ADD, REDUCE, NOTE, ASK, ROW_END, IOC, AGENT = 1, 3, 7, 1, 4, 16, 2**30

AGENTS = [(5, 0, 10100, 100, 0, -1, 0, ADD, ASK), (5, 1, 10200, 250, 0, -1, 0, ADD, ASK),
          (7, 2, 9900, 300, 0, -1, 0, ADD, 0), (9, AGENT + 8, 10100, 40, 0, -1, 1, ADD, IOC)]
HISTORY = AGENTS[:3] + [(9, 0, 0, 10, 0, -1, 0, REDUCE, ASK)]

tool, folder = sys.argv[1:]
failures = []


def show(path, **environment):
    try:
        result = subprocess.run([tool, "show", path], capture_output=True, text=True, timeout=60,
                                env={**os.environ, **environment})
    except subprocess.TimeoutExpired:
        return "hung"
    if result.stderr:
        failures.append(f"{os.path.basename(path)}: printed {result.stderr[:200]}")
    if result.returncode not in (0, 2):
        return f"crashed: exit status {result.returncode} {result.stderr}"
    return result.stdout.strip()


def check(name, write, *expected, **options):
    """Lets `write` fill a new file, reads it, looks for each expected text in what is said."""
    path = os.path.join(folder, name.replace(" ", "_") + ".h5")
    with h5py.File(path, "w", **options) as tape:
        write(tape)
    said = show(path)
    for text in expected:
        if text not in said:
            failures.append(f"{name}: expected '{text}' in: {said}")
    if "ERROR" in "".join(expected) and path not in said:
        failures.append(f"{name}: the file is not named: {said}")
    os.remove(path)


def header(tape, **changes):
    attributes = dict(format="warpbook tape", version=1, price_unit=0.01, tick_size=100)
    attributes.update(changes)
    for name, value in attributes.items():
        if value is not None:
            tape.attrs[name] = value


def records_of(rows, dtype=RECORD):
    return np.array(rows, np.dtype(dtype))


def sum_of(rows):
    total = 0
    for row in rows:
        for field in row:
            total = (total * 1000003 + field) % 2**64
    return f"sum={total:016x}"


def bare(rows=AGENTS, dtype=RECORD, data=None, **changes):
    def write(tape):
        header(tape, **changes)
        tape["records"] = records_of(rows, dtype) if data is None else data
    return write


def also(extra, **options):
    """A tape with source rows, a seed and a book, then `extra`."""
    def write(tape):
        header(tape, **options)
        tape["records"] = records_of([(5, 2, 100, 50, 0, 1, 0, ADD, ASK | ROW_END),
                                      (6, 0, 0, 0, 2, 2, 0, NOTE, ROW_END)])
        tape["ids"] = np.array([0, 0, 77], "<i8")
        tape["seed"] = np.array([(0, 100, 25, 1, 0, 1), (1, -100, 75, 2, 0, 0)], SEED)
        tape["rows"] = np.array([(4, 5, 100, 25, 1, -1, 1), (5, 77, 100, 50, 1, -1, 0),
                                 (6, 0, 0, 1, 5, 1, 2)], ROW)
        tape["book_price"] = np.array([[100, -100], [100, -100], [100, -2**31]], "<i4")
        tape["book_qty"] = np.array([[25, 75], [75, 75], [75, 0]], "<i8")
        tape["participants"] = ["null", "NITE"]
        extra(tape)
    return write


def replace(name, data):
    def change(tape):
        if name in tape:
            del tape[name]
        if data is not None:
            tape[name] = data
    return also(change)


def group(**columns):
    def change(tape):
        for name, data in columns.items():
            tape[name.replace("__", "/")] = data
    return also(change)


def compressed(tape):
    header(tape)
    tape.create_dataset("records", data=records_of(AGENTS * 1), chunks=(2,), compression="gzip",
                        shuffle=True, fletcher32=True, maxshape=(None,))


def without(member):
    dtype = [m for m in RECORD if m[0] != member]
    keep = [k for k, m in enumerate(RECORD) if m[0] != member]
    return bare(rows=[tuple(r[k] for k in keep) for r in AGENTS], dtype=dtype)


WIDE = [(n, ">i8") for n, _ in reversed(RECORD)]
EXTRA = RECORD + [("comment", "S5"), ("weight", "<f8")]


def check_good():
    check("agents", bare(), "OK records=4", sum_of(AGENTS), "refs=3", "unique=0", "unit=0.01")
    check("big endian wide backwards", bare([r[::-1] for r in AGENTS], WIDE), "OK", sum_of(AGENTS))
    check("more members", bare([r + (b"x", 1.0) for r in AGENTS], EXTRA), "OK", sum_of(AGENTS))
    check("chunks and filters", compressed, "OK", sum_of(AGENTS))
    check("newest format", bare(), "OK", sum_of(AGENTS), libver="latest")
    check("user block", bare(), "OK", sum_of(AGENTS), userblock_size=512)
    check("nothing", bare(rows=[]), "OK records=0")
    check("history keeps its promise", bare(HISTORY, unique_refs=True), "OK", "unique=1")
    check("agents cannot promise", bare(unique_refs=1), "OK", "unique=0")
    check("used again", bare(HISTORY + [(9,) + HISTORY[0][1:]], unique_refs=1),
          "OK", "unique=0")
    check("bad record cannot promise", bare([(5, 0, 10150, 1, 0, -1, 0, ADD, 0)], unique_refs=1),
          "OK records=1", "unique=0")
    check("header", bare(instrument="ES", day="2024-02-29", base=np.int16(-5), depth_unknown=True,
                         version=np.uint64(1), price_unit=1), "OK", "instrument=ES ",
          "day=2024-02-29 ", "base=-5", "unknown=1", "unit=1 ")
    check("fixed texts", bare(instrument=np.bytes_(b"ES")), "OK", "instrument=ES ")
    check("rows and books", also(lambda tape: None), "OK", "rows=3", "levels=1", "seed=2",
          "participants=2")
    check("groups", group(odd_times__row=[0], odd_times__text=["0.000000004000"],
                          sources__name=["x"], sources__bytes=[3], sources__hash=["0f" * 16],
                          findings__kind=[1], findings__row=[2], findings__text=["look here"]),
          "OK", "odd=1", "sources=1", "findings=1")


def check_bad_header():
    check("no format", bare(format=None), "ERROR_FORMAT", "attribute format", "no such attribute")
    check("other format", bare(format="photo"), "ERROR_FORMAT", "format", '"photo"')
    check("number as format", bare(format=7), "ERROR_FORMAT", "format", "a string", "an integer")
    check("no version", bare(version=None), "ERROR_FORMAT", "version")
    check("newer version", bare(version=2), "ERROR_FORMAT", "version", "got 2", "newer")
    check("no unit", bare(price_unit=None), "ERROR_FORMAT", "price_unit", "got none")
    check("text as unit", bare(price_unit="1e-4"), "ERROR_FORMAT", "price_unit", "a string")
    check("unit not a number", bare(price_unit=float("nan")), "ERROR_FORMAT", "price_unit")
    check("unit zero", bare(price_unit=0.0), "ERROR_FORMAT", "price_unit")
    check("no tick", bare(tick_size=None), "ERROR_FORMAT", "tick_size", "got none")
    check("tick zero", bare(tick_size=0), "ERROR_FORMAT", "tick_size", "got 0")
    check("tick huge", bare(tick_size=2**40), "ERROR_FORMAT", "tick_size")
    check("tick float", bare(tick_size=1.0), "ERROR_FORMAT", "tick_size", "a float")
    check("tick list", bare(tick_size=[1, 2]), "ERROR_FORMAT", "tick_size", "one value", "got 2")
    check("base huge", bare(base=np.uint64(2**63 + 1)), "ERROR_FORMAT", "base")
    check("base far", bare(base=2**62 + 1), "ERROR_FORMAT", "base")
    check("levels negative", bare(levels=-1), "ERROR_FORMAT", "levels", "got -1")
    check("end before start", bare(start_ns=5, end_ns=4), "ERROR_FORMAT", "start_ns")
    check("long instrument", bare(instrument="x" * 40), "ERROR_FORMAT", "instrument", "got 40")
    check("instrument as path", bare(instrument="../x"), "ERROR_FORMAT", "instrument")
    check("instrument with escape", bare(instrument="\x1b[2J"), "ERROR_FORMAT", "instrument")
    check("day in words", bare(day="Tuesday"), "ERROR_FORMAT", "day", "Tuesday")
    check("enormous text", bare(day="x" * 60000), "ERROR_FORMAT", "day")


def check_bad_records():
    check("no records", lambda tape: header(tape), "ERROR_FORMAT", "dataset records", "got none")
    for name, _ in RECORD:
        check("no " + name, without(name), "ERROR_FORMAT", "records", "member " + name, "got none")
    check("float member", bare(dtype=[(n, "<f8" if n == "price" else t) for n, t in RECORD]),
          "ERROR_FORMAT", "records", "member price", "a float")
    check("array member", bare(rows=[], dtype=RECORD[:-1] + [("flags", "u1", (3,))]),
          "ERROR_FORMAT", "member flags", "an array")
    check("two dimensions", bare(data=records_of(AGENTS).reshape(2, 2)), "ERROR_FORMAT",
          "records", "1 dimension", "got 2")
    check("scalar", bare(data=records_of(AGENTS)[0]), "ERROR_FORMAT", "records", "got 0")
    check("plain numbers", bare(data=np.arange(9)), "ERROR_FORMAT", "records", "a compound")
    check("group as records", lambda tape: (header(tape), tape.create_group("records")),
          "ERROR_FORMAT", "records")
    check("does not fit", bare([r[::-1] for r in AGENTS[:1]] + [(0, 1, 0, -1, 0, 1, 2**31, 1, 9)],
                               WIDE), "ERROR_FORMAT", "records", "fit")
    check("time goes back", bare([AGENTS[2], AGENTS[0]]), "ERROR_FORMAT", "records[1]", "time_ns")
    check("far time", bare([(2**62 + 1,) + AGENTS[0][1:]]), "ERROR_FORMAT", "records[0]", "time_ns")
    check("row without rows", bare([(5, 0, 100, 1, 0, 0, 0, ADD, 0)]), "ERROR_FORMAT", "row")
    check("end without row", bare([(5, 0, 100, 1, 0, -1, 0, ADD, ROW_END)]), "ERROR_FORMAT", "row")
    check("huge reference", bare([(5, 2**30 - 1, 100, 1, 0, -1, 0, ADD, 0)]), "ERROR_FORMAT", "ids")

    def beyond_ids(tape):
        bare()(tape)
        tape["ids"] = [1, 2]
    check("beyond ids", beyond_ids, "ERROR_FORMAT", "records[2]", "ref", "got 2")

    def linked(tape):
        header(tape)
        tape["records"] = h5py.ExternalLink("/etc/passwd", "/x")
    check("external link", linked, "ERROR_FORMAT", "records", "link")

    def external(tape):
        header(tape)
        tape.create_dataset("records", (4,), np.dtype(RECORD), external=[("/dev/zero", 0, 128)])
    check("external storage", external, "ERROR_FORMAT", "records", "another's")

    def virtual(tape):
        header(tape)
        layout = h5py.VirtualLayout((4,), np.dtype(RECORD))
        layout[:] = h5py.VirtualSource("elsewhere.h5", "records", (4,))
        tape.create_virtual_dataset("records", layout)
    check("virtual", virtual, "ERROR_FORMAT", "records", "another's")

    def huge(tape):
        header(tape)
        tape.create_dataset("records", (2**31 - 1,), np.dtype(RECORD), chunks=(2**15,))
    check("huge and empty", huge, "ERROR_FORMAT", "records", "2147483647")

    def too_many(tape):
        header(tape)
        tape.create_dataset("records", (2**40,), np.dtype(RECORD), chunks=(2**15,))
    check("too many", too_many, "ERROR_FORMAT", "records")

    def overflowing(tape):
        also(lambda t: None)(tape)
        del tape["book_price"]
        tape.create_dataset("book_price", (2**33, 2**33), "<i4", chunks=(64, 64))
    check("overflowing", overflowing, "ERROR_FORMAT", "book_price")


def check_bad_parts():
    seed = [(0, 100, 25, 1, 0, 1), (1, -100, 75, 2, 0, 0)]

    def seeded(k, **changes):
        names = [n for n, _ in SEED]
        new = list(seed)
        new[k] = tuple(changes.get(n, v) for n, v in zip(names, seed[k]))
        return replace("seed", np.array(new, SEED))
    check("seed quantity", seeded(0, qty=0), "ERROR_FORMAT", "seed[0]", "qty")
    check("seed side", seeded(1, side=2), "ERROR_FORMAT", "seed[1]", "side")
    check("seed price", seeded(1, price=-150), "ERROR_FORMAT", "seed[1]", "price")
    check("seed reference", seeded(1, ref=3), "ERROR_FORMAT", "seed[1]", "ref")
    check("seed twice", seeded(1, ref=0), "ERROR_FORMAT", "seed", "ref", "twice")
    check("seed arrival", seeded(1, arrival=3), "ERROR_FORMAT", "seed[1]", "arrival")
    check("seed arrivals equal", seeded(1, arrival=1), "ERROR_FORMAT", "seed", "arrival", "twice")
    check("seed order", replace("seed", np.array(seed[::-1], SEED)), "ERROR_FORMAT", "seed[1]")
    check("no book", replace("book_qty", None), "ERROR_FORMAT", "book_qty", "got none")
    check("short book", replace("book_qty", np.ones((2, 2), "<i8")), "ERROR_FORMAT", "book_qty",
          "3 x 2", "2 x 2")
    check("no prices", replace("book_price", None), "ERROR_FORMAT", "book_price", "got none")

    def lone_book(name, rows):
        def write(tape):
            bare()(tape)
            tape[name] = np.ones((rows, 2), "<i8")
        return write
    check("prices without rows", lone_book("book_price", 3), "ERROR_FORMAT", "book_price", "got 3")
    check("quantities without rows", lone_book("book_qty", 3), "ERROR_FORMAT", "book_qty", "got 3")
    check("empty book", lone_book("book_price", 0), "OK records=4")
    check("odd book", replace("book_price", np.ones((3, 3), "<i4")), "ERROR_FORMAT", "book_price",
          "even")
    check("flat book", replace("book_price", np.ones(6, "<i4")), "ERROR_FORMAT", "book_price",
          "2 dimensions")
    check("float book", replace("book_qty", np.ones((3, 2))), "ERROR_FORMAT", "book_qty", "a float")
    check("book cell", replace("book_qty", np.array([[25, 75], [0, 75], [75, 0]])), "ERROR_FORMAT",
          "book[1][0]")
    check("other depth", also(lambda tape: None, levels=2), "ERROR_FORMAT", "book_price", "3 x 4")
    check("participants", replace("participants", ["null"]), "ERROR_FORMAT", "rows[2]",
          "participant")
    check("participant", replace("participants", ["null", "a,b"]), "ERROR_FORMAT",
          "participants[1]", "comma")
    check("numbers as participants", replace("participants", [1, 2]), "ERROR_FORMAT",
          "participants", "strings")
    check("no record for a row", replace("records", records_of([(5, 2, 100, 50, 0, 1, 0, 1, 5)])),
          "ERROR_FORMAT", "row 2")
    check("rows out of order", replace("records", records_of(
        [(5, 2, 100, 50, 0, 2, 0, 1, 5), (5, 0, 0, 1, 0, 1, 0, 3, 5)])), "ERROR_FORMAT",
          "records[0]", "row")
    check("row ends twice", replace("records", records_of(
        [(5, 2, 100, 50, 0, 1, 0, 1, 5), (5, 0, 0, 1, 0, 1, 0, 3, 5)])), "ERROR_FORMAT",
          "records[1]", "row")
    check("row beyond", replace("records", records_of([(5, 2, 100, 50, 0, 9, 0, 1, 5)])),
          "ERROR_FORMAT", "records[0]", "row")
    check("type of row", replace("rows", np.array([(4, 5, 100, 25, 8, 1, 0)] * 3, ROW)),
          "ERROR_FORMAT", "rows[0]", "type")
    check("no text", group(odd_times__row=[0]), "ERROR_FORMAT", "odd_times/text", "got none")
    check("more texts", group(odd_times__row=[0], odd_times__text=["4", "5"]), "ERROR_FORMAT",
          "odd_times/text", "1 elements", "got 2")
    check("other time", group(odd_times__row=[0], odd_times__text=["4.0"]), "ERROR_FORMAT",
          "odd_times[0]")
    check("beyond rows", group(odd_times__row=[3], odd_times__text=["4.0"]), "ERROR_FORMAT",
          "odd_times[0]")
    check("hash", group(sources__name=["x"], sources__bytes=[3], sources__hash=["xyz"]),
          "ERROR_FORMAT", "sources/hash", "xyz")
    check("finding", group(findings__kind=[9], findings__row=[2], findings__text=["x"]),
          "ERROR_FORMAT", "findings/kind", "got 9")
    check("dataset as group", replace("sources", [1]), "ERROR_FORMAT", "group sources")

    def count(tape):
        tape.create_group("counts").attrs["edge_records"] = -1
    check("count", also(count), "ERROR_FORMAT", "edge_records", "got -1")


def check_flips(rounds):
    """A file in HDF5's oldest format has no checksums: any outcome but a crash or a hang will do."""
    path = os.path.join(folder, "flipped.h5")

    def fixed_texts(tape):
        del tape["participants"]
        tape["participants"] = np.array([b"null", b"NITE"])
    with h5py.File(path, "w") as tape:
        also(fixed_texts, format=np.bytes_(b"warpbook tape"))(tape)
    good = open(path, "rb").read()
    dice = np.random.default_rng(7)
    used = [at for at, byte in enumerate(good) if byte != 0]
    refused = 0
    for k in range(rounds):
        bad = bytearray(good)
        for at in dice.choice(used, 3):
            bad[at] ^= 1 << int(dice.integers(0, 8))
        open(path, "wb").write(bad)
        # libhdf5 itself leaks when it gives up on a file
        said = show(path, ASAN_OPTIONS="detect_leaks=0")
        refused += said.startswith("ERROR")
        if not said.startswith(("OK", "ERROR")):
            failures.append(f"flips {k}: {said}")
    if refused < rounds // 2:
        failures.append(f"flips: only {refused} of {rounds} damaged files were refused")
    os.remove(path)


os.makedirs(folder, exist_ok=True)
check_good()
check_bad_header()
check_bad_records()
check_bad_parts()
check_flips(300)
for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
