#!/usr/bin/env python3
# tier: fast
"""Files of others whose numbers are no counts of samples: weights, fractions, two columns; stacks too
deep to be kept; what is around the stacks. And files that are no plain files: gzipped, from a pipe."""
import gzip
import os
import re
import subprocess
import sys
import tempfile

from lib import PROF, Checks, collapsed, good, prof, read, want

BIG = 28000000000  # ns: more than any file has samples


def run(*args, **kwargs):
    return subprocess.run([PROF, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          check=False, **kwargs)


class Files:
    def __init__(self, scratch):
        self.scratch = scratch

    def __call__(self, name, data):
        path = os.path.join(self.scratch, name)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return path


def said(*args):
    """(stacks, lines on stderr)"""
    done = prof("convert", "-o", "collapsed", *args)
    want(done.returncode == 0, done.stderr)
    return {";".join(f): n for f, n in collapsed(done.stdout)}, done.stderr.splitlines()


# ---- weights ----

def field(number, data):
    if isinstance(data, int):
        return varint(number << 3) + varint(data)
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def pprof(types, samples):
    """Of {stack: values}; a type is (name, unit)."""
    strings, out = [""], b""

    def string(s):
        if s not in strings:
            strings.append(s)
        return strings.index(s)
    for name, unit in types:
        out += field(1, field(1, string(name)) + field(2, string(unit)))
    frames = sorted({f for stack in samples for f in stack.split(";")})
    for stack, values in samples.items():
        ids = b"".join(varint(frames.index(f) + 1) for f in reversed(stack.split(";")))
        out += field(2, field(1, ids) + field(2, b"".join(map(varint, values))))
    for i, f in enumerate(frames):
        out += field(4, field(1, i + 1) + field(4, field(1, i + 1)))
        out += field(5, field(1, i + 1) + field(2, string(f)))
    return out + b"".join(field(6, s.encode()) for s in strings)


def widths(path):
    """Shares of an SVG's frames, by name, in percent."""
    svg = good("convert", "-o", "svg", path)
    return {m.group(1): float(m.group(2)) for m in
            re.finditer(r"<title>([^\n(<]+?) \([^)]*?([\d.]+)%", svg)}


def one_meaning(files):
    """Where one number is too large for samples, all are weights."""
    stacks = {"main;busy": BIG, "main;idle": 50000000, "main;other": 1000}
    path = files("weights.collapsed", "".join("%s %d\n" % s for s in stacks.items()))
    got, lines = said(path)
    want(got == stacks, "stacks: %s" % got)
    want(len(lines) == 1 and "weights" in lines[0], "said: %s" % lines)
    text = good("convert", "-o", "flat", path)
    rows = re.findall(r"^ *(\d+) +([\d.]+)% .* (\w+)$", text, re.M)
    want([r[2] for r in rows] == ["busy", "idle", "other"] and float(rows[0][1]) > 99, text)
    back, _ = said(*[files("again.pb.gz", run("convert", "-o", "pprof", path).stdout)])
    want(back == stacks, "through pprof: %s" % back)
    counts, lines = said(files("counts.collapsed", "main;busy 60000000\nmain;idle 3\n"))
    want(counts == {"main;busy": 60000000, "main;idle": 3} and not lines, "counts: %s" % lines)


def values_only(files):
    """A pprof file that does not say how many samples there were."""
    stacks = {"main;busy": [9000000000], "main;idle": [1000000]}
    got, _ = said(files("values.pb", pprof([("cpu", "nanoseconds")], stacks)))
    want(got == {k: v[0] for k, v in stacks.items()}, "ns: %s" % got)
    drawn = widths(os.path.join(files.scratch, "values.pb"))
    want(drawn["busy"] > 99 and drawn["idle"] < 1, "drawn: %s" % drawn)
    got, _ = said(files("bytes.pb", pprof([("alloc_in_new_tlab_bytes", "bytes")], stacks)))
    want(got == {k: v[0] for k, v in stacks.items()}, "bytes: %s" % got)
    both = {k: [i + 1, v[0]] for i, (k, v) in enumerate(stacks.items())}
    got, _ = said(files("both.pb", pprof([("samples", "count"), ("cpu", "nanoseconds")], both)))
    want(got == {k: v[0] for k, v in both.items()}, "counted: %s" % got)


def compared(files):
    """Chance is a matter of samples: of weights nothing is marked, and widths are weights."""
    a = files("a.collapsed", "main;busy %d\nmain;idle %d\n" % (BIG, BIG))
    b = files("b.collapsed", "main;busy %d\nmain;idle %d\n" % (BIG, 2 * BIG))
    text = good("diff", a, b)
    want("without sample counts" in text and "*" not in text, text)
    want(re.search(r"50\.00% +33\.33% +-16\.67 +x0\.67 +- +- +busy", text), text)
    stacks = good("diff", "-o", "collapsed", a, b).splitlines()
    want(stacks == ["main;busy %d %d" % (BIG, BIG), "main;idle %d %d" % (BIG, 2 * BIG)], str(stacks))
    counted = files("c.collapsed", "main;busy 9000\nmain;idle 1000\n")
    want("more than chance, marked" in good("diff", counted, counted), "counts are not tested")


# ---- text ----

def fractions(files):
    """Each is rounded; their sum is what it was."""
    got, lines = said(files("one.collapsed", "main;a 2.5\nmain;b 1.0\n"))
    want(set(got) == {"main;a", "main;b"} and sum(got.values()) in (3, 4), "stacks: %s" % got)
    want(len(lines) == 1 and "fraction" in lines[0], "said: %s" % lines)
    many = "".join("main;f%d 0.25\n" % i for i in range(4000))
    want(sum(said(files("many.collapsed", many))[0].values()) == 1000, "a quarter is lost")
    whole, lines = said(files("zero.collapsed", "main;a 1.0\nmain;b 12.000\n"))
    want(whole == {"main;a": 1, "main;b": 12} and not lines, "%s, said: %s" % (whole, lines))


def two_columns(files):
    """Files that compare two profiles: the second one counts."""
    got, _ = said(files("two.collapsed", "main;a 1 2\nmain;b 3.5 4.0\nmain;c 0 5\n"))
    want(got == {"main;a": 2, "main;b": 4, "main;c": 5}, "stacks: %s" % got)
    got, _ = said(files("named.collapsed", "main;thread 1 2\nmain;b 4\n"))
    want(got == {"main;thread 1": 2, "main;b": 4}, "names that end in a number: %s" % got)


def deep(files):
    """What does not fit is cut at the root, where it says so."""
    for frames in (4095, 4096, 4097, 20000):
        stack = ";".join("f%d" % i for i in range(frames))
        got, lines = said(files("deep.collapsed", stack + " 5\n"))
        names = list(got)[0].split(";")
        cut = frames > 4096
        want(got[";".join(names)] == 5 and names[-1] == "f%d" % (frames - 1), "the leaf is gone")
        want(len(names) == min(frames, 4096), "%d frames of %d" % (len(names), frames))
        want((names[0] == "[truncated]") == cut, "%d frames begin with %s" % (frames, names[0]))
        want(len(lines) == cut and (not cut or "[truncated]" in lines[0]), "said: %s" % lines)


def around(files):
    """A byte order mark, line ends of other systems, and what other tools say in between."""
    stacks = {"main;a": 3, "main;b": 4, "main;c": 5}
    text = "main;a 3\r\nmain;b 4\r\nmain;c 5\r\n"
    for name, data in (("crlf", text), ("mark", b"\xef\xbb\xbf" + text.encode()),
                       ("plain", text.replace("\r", "").rstrip("\n"))):
        got, lines = said(files(name + ".collapsed", data))
        want(got == stacks and not lines, "%s: %s, said: %s" % (name, got, lines))
    got, lines = said(files("said.collapsed", "Profiling for 10 seconds\n" + text + "Done\n"))
    want(got == stacks and len(lines) == 1 and "line 1" in lines[0], "%s, said: %s" % (got, lines))


# ---- where it comes from ----

def packed(files):
    text = "main;a 3\nmain;b 4\n"
    path = files("packed.collapsed.gz", gzip.compress(text.encode()))
    want(said(path)[0] == {"main;a": 3, "main;b": 4}, "gzipped stacks")
    jfr = os.path.join(files.scratch, "x.jfr")
    good("convert", files("plain.collapsed", text), jfr)
    with open(jfr, "rb") as f:
        path = files("x.jfr.gz", gzip.compress(f.read()))
    want(said(path)[0] == {"main;a": 3, "main;b": 4}, "a gzipped recording")
    with open(path, "rb") as f:
        cut = files("cut.jfr.gz", f.read()[:-200])
    done = prof("convert", "-o", "collapsed", cut)
    want("cut or damaged" in done.stderr, "exit %d: %s" % (done.returncode, done.stderr))


def piped(files):
    text = b"main;a 3\nmain;b 4\n"
    for data in (text, gzip.compress(text), pprof([("samples", "count")], {"main;a": [3],
                                                                        "main;b": [4]})):
        done = run("convert", "-o", "collapsed", "-", input=data)
        want(done.stdout == text, "a pipe: %r %r" % (done.stdout, done.stderr))
    path = files("in.collapsed", text)
    with open(path, "rb") as f:
        want(run("convert", "-o", "collapsed", "-", stdin=f).stdout == text, "a redirected file")
    done = subprocess.run(["bash", "-c", '"$0" convert -o collapsed <(cat "$1") && '
                           '"$0" diff -o collapsed <(cat "$1") <(cat "$1")', PROF, path],
                          stdout=subprocess.PIPE, timeout=60, check=False)
    want(done.stdout == text + b"main;a 3 3\nmain;b 4 4\n", "of a command: %r" % done.stdout)
    want(read(path).encode() == text, "the input was written")
    for what in (subprocess.DEVNULL, None):
        done = run("convert", "-o", "collapsed", "/dev/zero" if what is None else "-", stdin=what)
        want(done.returncode and len(done.stderr.splitlines()) == 1, "said: %r" % done.stderr)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="jtop-prof-weights-") as scratch:
        files = Files(scratch)
        for name, check in (("one meaning", one_meaning), ("values only", values_only),
                            ("compared", compared), ("fractions", fractions),
                            ("two columns", two_columns), ("deep stacks", deep),
                            ("around the stacks", around), ("gzipped", packed), ("piped", piped)):
            checks.run(name, check, files)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
