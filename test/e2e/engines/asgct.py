#!/usr/bin/env python3
# timeout: 150, runs: alone
"""--cstack asgct: the VM's own AsyncGetCallTrace gives the Java frames. Shares and names must be as
true as those of the walker that is used by default; where the VM gives up, the sample says so."""
import re
import sys

from lib import (Checks, Jvm, collapsed, difference, good, prof, self_percent, total, wait_for,
                 want, within)

ASGCT = ("--cstack", "asgct")
OF_THE_VM = {"GC_active", "unknown_Java", "not_walkable_Java", "unknown_state"}


def profile(jvm, seconds, *more):
    return collapsed(good("-d", seconds, "-i", "1ms", "-o", "collapsed", *more, jvm.pid))


def shares(jvm):
    before = jvm.truth()
    stacks = profile(jvm, 8, *ASGCT)
    truth = difference(before, jvm.truth())
    want(total(stacks) >= 1500, "only %d samples" % total(stacks))
    within(3.0, truth, self_percent(stacks))
    nameless = [f for frames, _ in stacks for f in frames
                if "unknown" in f and f != "[unknown_Java]"]
    want(not nameless, "without a name: %s" % nameless[:5])


def same_stacks(jvm):
    """Nearly every sample has a stack that the default walker sees too, frame by frame."""
    def plain(stacks):  # hidden classes have other suffixes in each profile of old JDKs
        return {tuple(re.sub(r"[/.+]0x[0-9a-f]+|/\d+", "", f) for f in frames): n
                for frames, n in stacks if any(f.startswith("Shares$") for f in frames[3:])}
    vm, asgct = plain(profile(jvm, 3)), plain(profile(jvm, 3, *ASGCT))
    common = sum(n for stack, n in asgct.items() if stack in vm)
    want(common >= 0.9 * sum(asgct.values()), "%d of %d; asgct: %s" % (
        common, sum(asgct.values()), sorted(set(asgct) - set(vm), key=asgct.get)[-3:]))


def lines_and_tiers(jvm):
    """What is inlined is marked so, and the compiled leaf with it."""
    stacks = profile(jvm, 2, "-a", *ASGCT)
    leaves = {}
    for frames, n in stacks:
        mark = re.search(r"\.[a-d]\d\d(_\[.\])$", frames[-1])
        if mark:
            leaves[mark.group(1)] = leaves.get(mark.group(1), 0) + n
    compiled = leaves.get("_[i]", 0) + leaves.get("_[j]", 0)
    want(compiled >= 0.95 * sum(leaves.values()) > 0, "tiers: %s" % leaves)


def says_so(jvm):
    screen = good("--batch", "-n", 1, "--refresh", "500ms", *ASGCT, jvm.pid)
    want("walk asgct" in screen, screen)


def hostile():
    """It gives up often here; each time with a reason, and the JVM lives."""
    with Jvm("Hostile") as jvm:
        text = good("-d", 8, "-i", "500us", "-o", "summary", *ASGCT, jvm.pid)
        samples = int(re.search(r"Total samples +: (\d+)", text).group(1))
        failed = {name: int(n) for name, n in re.findall(r"^(\w+) +: (\d+) \(", text, re.M)}
        want(samples > 1000, text)
        want(set(failed) - OF_THE_VM <= {"truncated", "dropped", "unknown_pc"}, text)
        want(sum(failed.values()) < 0.4 * samples, text)
        # Starting and stopping it, and the other walker after it, in one JVM.
        for walk in ("vm", "asgct", "vm"):
            good("-d", 1, "-o", "collapsed", "--cstack", walk, jvm.pid)
        want(jvm.end() == 0, "the JVM did not end well")


def churn():
    """jmethodIDs of unloaded classes are asked for all the time: the JVM must live. A class that is
    gone before its names were asked for is called so."""
    with Jvm("Churn", options=["-Xms64m", "-Xmx64m"]) as jvm:
        stacks = profile(jvm, 8, *ASGCT)
        named = sum(n for frames, n in stacks if any("ChurnTemplate$T" in f for f in frames))
        unloaded = sum(n for frames, n in stacks if "[unloaded_method]" in " ".join(frames))
        want(named > 0.2 * total(stacks), "%d named, %d unloaded, of %d samples" %
             (named, unloaded, total(stacks)))
        want(jvm.end() == 0, "the JVM did not end well")


def deep():
    """More frames than asked for: cut, and said so."""
    with Jvm("Hostile") as jvm:
        done = prof("-d", 3, "-i", "1ms", "-j", 5, "-o", "collapsed", *ASGCT, jvm.pid)
        want(done.returncode == 0, done.stderr)
        for frames, _ in collapsed(done.stdout):
            java = [f for f in frames if re.match(r"[\w/$]+\.[\w$<>]+$", f) and "/" in f]
            want(len(java) <= 5, "%d Java frames: %s" % (len(java), ";".join(frames)))
        want("[truncated]" in done.stdout, "nothing was cut")


def main():
    checks = Checks()
    with Jvm("Shares", "single") as jvm:
        wait_for(lambda: sum(jvm.truth().values()) > 2e9, "two seconds of CPU time")
        checks.run("shares", shares, jvm)
        checks.run("the same stacks", same_stacks, jvm)
        checks.run("tiers", lines_and_tiers, jvm)
        checks.run("the screen says so", says_so, jvm)
    checks.run("hostile mix", hostile)
    checks.run("class churn", churn)
    checks.run("depth", deep)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
