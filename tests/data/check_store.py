"""Reads a tape's file with h5py alone and compares it with the CSV pair that it was made from.

usage: check_store.py STORE_TOOL FOLDER MESSAGES ORDERBOOK
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

NO_ASK, NO_BID = 9999999999, -9999999999


def nanoseconds(text):
    whole, _, decimals = text.partition(".")
    return int(whole) * 10**9 + int((decimals + "000000000")[:9])


def expect(what, got, expected):
    if not np.array_equal(got, expected):
        sys.exit(f"check_store: {what}: expected {expected}, got {got}")


def check_rows(tape, lines):
    rows = tape["rows"][:]
    expect("number of rows", len(rows), len(lines))
    fields = [line.split(",") for line in lines]
    expect("rows: time_ns", rows["time_ns"], [nanoseconds(f[0]) for f in fields])
    for column, name in [(1, "type"), (2, "id"), (3, "size"), (4, "price"), (5, "direction")]:
        expect(f"rows: {name}", rows[name].astype("i8"), [int(f[column]) for f in fields])


def check_book(tape, lines):
    numbers = np.array([[int(x) for x in line.split(",")] for line in lines])
    price, qty = numbers[:, 0::2], numbers[:, 1::2]
    none = np.zeros(price.shape, bool)
    none[:, 0::2] = price[:, 0::2] == NO_ASK
    none[:, 1::2] = price[:, 1::2] == NO_BID
    expected = np.where(none, -2**31, price - int(tape.attrs["base"]))
    expect("book_price", tape["book_price"][:].astype("i8"), expected)
    expect("book_qty", tape["book_qty"][:], np.where(none, 0, qty))
    expect("levels", tape.attrs["levels"], price.shape[1] // 2)


def check_records(tape):
    records = tape["records"][:]
    expect("a record's bytes", records.dtype.itemsize, 32)
    expect("owner", records["owner"], np.zeros(len(records)))
    ends = records["row"][(records["flags"] & 4) != 0]
    expect("rows that end", ends[ends > 0], np.arange(1, len(tape["rows"])))
    # what a submission's record names is the order of its row
    adds = records[(records["type"] == 1) & ((records["flags"] & 2) == 0)]
    expect("ids of submissions", tape["ids"][:][adds["ref"]], tape["rows"][:]["id"][adds["row"]])


def main():
    tool, folder, messages, orderbook = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "sample.h5")
    subprocess.run([tool, "convert", messages, orderbook, path], check=True)
    with h5py.File(path) as tape, open(messages) as m, open(orderbook) as b:
        name = os.path.basename(messages).split("_")
        expect("format", tape.attrs["format"].decode(), "warpbook tape")
        expect("version", tape.attrs["version"], 1)
        expect("instrument", tape.attrs["instrument"].decode(), name[0])
        expect("day", tape.attrs["day"].decode(), name[1])
        check_rows(tape, m.read().splitlines())
        check_book(tape, b.read().splitlines())
        check_records(tape)
        expect("sizes of the sources", tape["sources/bytes"][:],
               [os.path.getsize(messages), os.path.getsize(orderbook)])
        print(f"{len(tape['rows'])} rows, {len(tape['records'])} records as in the CSV files")
    text = subprocess.run(["h5dump", "-H", path], capture_output=True, text=True)
    if text.returncode != 0 or 'DATASET "records"' not in text.stdout:
        sys.exit("check_store: h5dump does not show the file: " + text.stderr)


main()
