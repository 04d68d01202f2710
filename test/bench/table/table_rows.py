"""Rows of the table that `make bench` prints, and the same as JSON.

A row has values of jtop-prof, of the peer if there is one, and of the same program without a
profiler; each is a list of numbers, one for each pair. The table shows their median and quartiles.
"""
import json
import os
import statistics
import tempfile

OURS, PEER, OFF = "jtop-prof", "peer", "unprofiled"
SIDES = (OURS, PEER, OFF)
WIDTH = 100
WHAT = 43  # columns of the first one; each of the others has a third of the rest


class Row:
    """id: one word; what: for people, with the unit; better: "higher", "lower" or "closer"
    (to `ideal`, in per cent)."""

    def __init__(self, row_id, what, unit, better, digits=1):
        self.id, self.what, self.unit, self.better, self.digits = row_id, what, unit, better, digits
        self.values = {side: [] for side in SIDES}
        self.notes = {}

    def add(self, side, value):
        self.values[side].append(value)

    def note(self, side, text):
        """Why this side has no value, or what is special about it."""
        self.notes[side] = " ".join(str(text).split())[:200]


def summary(values):
    """(median, lower quartile, upper quartile); None without values."""
    if not values:
        return None
    if len(values) == 1:
        return (values[0],) * 3
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return middle, low, high


def number(value, digits):
    """Large numbers have no use for decimals."""
    for limit in (100, 1000):
        digits -= abs(value) >= limit and digits > 1 or abs(value) >= 1000 and digits > 0
    return "%.*f" % (max(digits, 0), value)


def cell(values, digits):
    found = summary(values)
    if found is None:
        return "-"
    middle, low, high = (number(v, digits) for v in found)
    return middle if len(values) == 1 else "%s (%s-%s)" % (middle, low, high)


def line(what, cells):
    column = (WIDTH - WHAT) // len(SIDES)
    return what.ljust(WHAT) + "".join(" " + c.rjust(column - 1) for c in cells)


def heading(peer=None):
    """peer: its name and version."""
    names = (OURS, peer[:WIDTH // len(SIDES) - 15] if peer else "no peer", OFF)
    return line("median (quartiles)", names) + "\n" + "-" * WIDTH


def text(row, known=()):
    """A row of the table; what does not fit into the first column has a line of its own. Notes that
    are in `known` are left out."""
    what = "%s, %s" % (row.what, row.unit)
    cells = [cell(row.values[side], row.digits) for side in SIDES]
    before = ""
    if len(what) > WHAT:
        cut = what.rfind(" ", 0, WHAT + 1)
        before, what = what[:cut] + "\n", "  " + what[cut + 1:]
    out = before + line(what, cells)
    return out + "".join("\n  %s: %s" % note for note in row.notes.items() if note not in known)


def side_json(row, side):
    found = summary(row.values[side])
    out = {"note": row.notes[side]} if side in row.notes else {}
    if found:
        out.update(zip(("median", "low", "high"), found), values=row.values[side])
    return out or None


def document(machine, ours, peer, pairs, rows):
    """What the JSON file holds; peer: {"name", "version"} or None."""
    return {"machine": machine, "jtop_prof": ours, "peer": peer, "pairs": pairs,
            "rows": [{"id": r.id, "what": r.what, "unit": r.unit, "better": r.better,
                      "jtop_prof": side_json(r, OURS), "peer": side_json(r, PEER),
                      "unprofiled": side_json(r, OFF)} for r in rows]}


def write(path, content):
    """The whole file or none."""
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(prefix=".bench-", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as f:
            json.dump(content, f, indent=2, ensure_ascii=False)
            f.write("\n")
        os.chmod(temporary, 0o644)
        os.rename(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
