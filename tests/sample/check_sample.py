"""Checks that the bundled sample says what files of its kind say, from the two files alone.

Keeps price levels only, corrected from each row where the window hid something, and holds the pair
to the rules in docs/lobster.md. usage: check_sample.py MESSAGES ORDERBOOK
"""
import collections
import sys

DUMMY = 9999999999
LEVELS = 5


def rows_of(path):
    with open(path, encoding="ascii") as lines:
        return [line.rstrip("\n").split(",") for line in lines]


def levels_of(row):
    """The row's levels by direction: {-1: [(price, size), ...], 1: ...}, best first."""
    cells = [int(cell) for cell in row]
    assert len(cells) == 4 * LEVELS
    sides = {}
    for direction, first in ((-1, 0), (1, 2)):
        levels = list(zip(cells[first::4], cells[first + 1 :: 4]))
        assert all((size == 0) == (price == -direction * DUMMY) for price, size in levels)
        sides[direction] = [level for level in levels if level[1] > 0]
    return sides


def nanoseconds(text):
    seconds, _, fraction = text.partition(".")
    assert len(fraction) <= 9 and not fraction.endswith("0"), text
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0"))


def main():
    messages, books = rows_of(sys.argv[1]), rows_of(sys.argv[2])
    assert len(messages) == len(books)
    depth = {-1: {}, 1: {}}  # everything that can be known: direction -> price -> size
    seen, types = set(), collections.Counter()
    trading, before, last_time, corrections, unknown = True, None, 0, 0, 0
    crossed_in_halt = equal_times = short_rows = 0
    for k, (message, book) in enumerate(zip(messages, books)):
        where = f"row {k}"
        time, row = nanoseconds(message[0]), levels_of(book)
        kind, ref, size, price, direction = (int(cell) for cell in message[1:])
        assert last_time <= time < 57600 * 10**9, where
        equal_times += time == last_time
        short_rows += min(len(row[-1]), len(row[1])) < LEVELS
        types[kind] += 1
        last_time = time
        if k == 0:
            depth = {side: dict(row[side]) for side in row}
            before, seen = row, {ref}
            continue
        mine = depth[direction]
        if kind == 1:
            best_other = before[-direction][0][0] if before[-direction] else direction * DUMMY
            assert not trading or direction * (best_other - price) > 0, where
            mine[price] = mine.get(price, 0) + size
            seen.add(ref)
        elif kind in (2, 3, 4):
            assert kind != 4 or before[direction][0][0] == price, where
            mine[price] -= size
            assert mine[price] >= 0, where
            if mine[price] == 0:
                del mine[price]
            unknown += ref not in seen
        else:
            assert row == before, where
            assert ref == (-1 if kind == 6 else 0), where
            if kind == 7:
                trading = price == 1
        # the window's corrections: only at prices worse than the last level that showed before
        for side in (-1, 1):
            shown = dict(row[side])
            worst = row[side][-1][0] if len(row[side]) == LEVELS else None
            for p in list(depth[side]) + list(shown):
                if worst is not None and side * (worst - p) > 0:
                    continue
                if depth[side].get(p, 0) == shown.get(p, 0):
                    continue
                assert len(before[side]) == LEVELS, where
                assert side * (before[side][-1][0] - p) > 0, where
                corrections += 1
                depth[side].pop(p, None)
                if p in shown:
                    depth[side][p] = shown[p]
        crossed = bool(row[-1]) and bool(row[1]) and row[-1][0][0] <= row[1][0][0]
        assert not (trading and crossed), where
        crossed_in_halt += crossed
        before = row
    print(
        f"rows {len(messages)}, by type {dict(sorted(types.items()))}, unknown ids {unknown}, "
        f"corrections {corrections}, equal times {equal_times}, rows with a short side {short_rows}, "
        f"crossed in the halt {crossed_in_halt}"
    )
    assert set(types) == {1, 2, 3, 4, 5, 6, 7}
    assert min(unknown, corrections, equal_times, short_rows, crossed_in_halt) > 0


main()
