#!/usr/bin/env python3
# timeout: 120, runs: alone
"""Precision of code that was compiled before we came: Precise is a mix of small methods, all inlined
into one compiled method around intrinsics, and prints what each of them truly takes. With
--precise every one is seen within 3 points; how far off it is without is printed.

Of a class that many loaders have defined, only the code that is hot is given up, and none of the
application's loaders is asked for anything."""
import os
import re
import struct
import sys
import tempfile

from lib import (Checks, Jvm, Wrong, collapsed, difference, good, java_version, read, records, total,
                 want)

POINTS = 3.0
CLASS = "Precise."
DRIVER = CLASS + "burn"
LOADERS = 20


def by_method(stacks):
    """Percent by the nearest method of the workload, of what lies under its driver: what a method
    calls is its own time, and compilers are not part of the truth."""
    shares = {}
    for frames, count in stacks:
        if DRIVER in frames:
            own = next(f for f in reversed(frames) if f.startswith(CLASS))
            shares[own[len(CLASS):]] = shares.get(own[len(CLASS):], 0) + count
    everything = sum(shares.values()) or 1
    return {name: 100.0 * count / everything for name, count in shares.items()}


def off(jvm, seconds, *more):
    """{method: points off}, and what was seen."""
    before = jvm.truth()
    stacks = collapsed(good("-d", seconds, "-i", "1ms", "-o", "collapsed", *more, jvm.pid))
    truth = difference(before, jvm.truth())
    # As many as a tenth of a core would give: the machine may be busy.
    want(total(stacks) >= 100 * seconds, "only %d samples" % total(stacks))
    seen = by_method(stacks)
    return {name: seen.get(name, 0) - percent for name, percent in truth.items()}, seen


def show(errors):
    return " ".join("%s %+.1f" % e for e in sorted(errors.items(), key=lambda e: -abs(e[1])))


def without(jvm):
    errors, seen = off(jvm, 3)
    print("# without --precise: %s points; run itself %.1f %%"
          % (show(errors), seen.get("run", 0)))


def log(path):
    """Lines for people in a recording (source: core/wire/record.h)."""
    lines = []
    for kind, record in records(path):
        if kind == 11:
            _, n = struct.unpack_from("<II", record, 8)
            lines.append(record[16:16 + n].decode())
    return lines


def recorded(seconds, pid):
    """What a session with --precise says."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "recording")
        good("-d", seconds, "-i", "1ms", "-o", "collapsed", "--precise", "--record", path, pid)
        return log(path)


def recompiled(method, said):
    return re.fullmatch(r"after \d+\.\d s: recompiled %s \(C2(, loop)?\) for precision: \d+\.\d ms"
                        % re.escape(method), said)


def says_so(jvm):
    """The first session is the one in which the hot code is given up. On a busy machine it may take
    a second one until it is compiled again and in that state."""
    said = []
    for _ in range(3):
        said += recorded(5, jvm.pid)
        if any(recompiled("Precise.run", x) for x in said):
            print("# " + "; ".join(said))
            return
    raise Wrong("it does not say that run was recompiled: %s" % said)


def is_within(jvm, tries):
    errors, seen = off(jvm, 6, "--precise")
    tries.append(show(errors))
    print("# with --precise: %s points; run itself %.1f %%" % (tries[-1], seen.get("run", 0)))
    return max(map(abs, errors.values())) <= POINTS


def within(jvm):
    """JDK 8's C2, when it compiles run anew, sometimes says that most of root's code, which it has
    inlined, is run's. That stays so in this JVM, but not in the next one."""
    tries, chance = [], java_version() == 8
    for i in range(5 if chance else 3):
        if i == 0 or not chance:
            good_now = is_within(jvm, tries)
        else:
            with Jvm("Precise") as another:
                recorded(5, another.pid)
                good_now = is_within(another, tries)
        if good_now:
            return
    raise Wrong("with --precise: " + "; ".join(tries))


def given_up(path):
    """How often C2's code of the class that many loaders defined was given up."""
    return len(re.findall(r" 4 +OwnLoader\$Work::spin .*made not entrant", read(path)))


def own_loaders():
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "compilations")
        options = ["-Djava.system.class.loader=OwnLoader", "-Xbatch", "-XX:+PrintCompilation",
                   "-XX:+UnlockDiagnosticVMOptions", "-XX:+LogVMOutput", "-XX:-DisplayVMOutput",
                   "-XX:LogFile=" + path, "-XX:CompileCommand=dontinline,OwnLoader$Work::spin"]
        with Jvm("OwnLoader$Work", LOADERS, options=options) as jvm:
            said = []
            for _ in range(3):
                said += recorded(4, jvm.pid)
                if any(recompiled("OwnLoader$Work.spin", x) for x in said):
                    break
            else:
                raise Wrong("it does not say that spin was recompiled: %s" % said)
            asked = jvm.ask("asked")
            want(not asked, "the application's loader was asked for %s" % asked)
            jvm.end()
            n = given_up(path)
            print("# code of %d loaders: given up %d times" % (LOADERS + 1, n))
            want(0 < n < LOADERS, "code was given up %d times" % n)


def main():
    checks = Checks()
    with Jvm("Precise") as jvm:
        without(jvm)
        checks.run("recompiles what is hot, and says so", says_so, jvm)
        checks.run("within %g points" % POINTS, within, jvm)
    checks.run("one loader's code, and no loader asked", own_loaders)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
