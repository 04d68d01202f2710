#!/usr/bin/env python3
# timeout: 180
"""Each way of walking tells the truth about a stack that is known: Java, C, Java, C."""
import re
import sys

from lib import Checks, Jvm, collapsed, good, total, want

SECONDS = 3
JAVA = ["Callbacks.main", "Callbacks.work", "Callbacks.call%s", "Callbacks.back%s",
        "Callbacks.call%s", "Callbacks.back%s", "Callbacks.burn%s"]
LEAF = ["Java_Callbacks_burn%s", "callback_middle%s", "callback_burn%s"]
CALL = ["Java_Callbacks_call%s", "callback_outer%s"]  # and the VM's own functions behind it


def named(names, kind):
    return [n % kind if "%s" in n else n for n in names]


def user(frames):
    return [f for f in frames if not f.endswith("_[k]")]


def walked(jvm, mode):
    """The stacks that end in the innermost C function, as [(frames, count)]."""
    stacks = collapsed(good("-d", SECONDS, "-i", "1ms", "--cstack", mode, "-o", "collapsed",
                            jvm.pid))
    burning = [(user(frames), count) for frames, count in stacks
               if any(f.startswith("callback_burn") or f.startswith("Callbacks.burn")
                      for f in frames)]
    want(total(burning) > 100, "only %d samples in the innermost function" % total(burning))
    return burning


def mostly(stacks, expected, percent=98.0):
    """Nearly all samples have exactly these frames."""
    right = sum(count for frames, count in stacks if frames == expected)
    wrong = max((s for s in stacks if s[0] != expected), key=lambda s: s[1], default=([], 0))
    want(100.0 * right >= percent * total(stacks),
         "%d of %d samples have the frames %s; %d have %s"
         % (right, total(stacks), ";".join(expected), wrong[1], ";".join(wrong[0])))


def java_then(kind, mode, leaf):
    with Jvm("Callbacks", kind.lower()) as jvm:
        mostly(walked(jvm, mode), named(JAVA + leaf, kind))


def interleaved(kind, options):
    """Down to the thread's entry, with what called what between Java and C in order, once."""
    with Jvm("Callbacks", kind.lower(), options=options) as jvm:
        stacks = walked(jvm, "vmx")
    ours = []
    for name in JAVA[:-1]:
        ours += [name] + (CALL if name.startswith("Callbacks.call") else [])
    ours = named(ours + JAVA[-1:] + LEAF, kind)
    right = 0
    for frames, count in stacks:
        found = [f for f in frames if "allback" in f]
        first = frames.index("Callbacks.main") if "Callbacks.main" in frames else 0
        # The VM's functions and its call stub stand between C and Java, each time.
        stubs = [i for i, f in enumerate(frames) if f == "call_stub"]
        java = [i + 1 for i in stubs if i + 1 < len(frames)]
        if (found == ours and len(stubs) == 3 and {"JavaMain", "[libjli.so]"} & set(frames[:first])
                and all(frames[i].startswith("Callbacks.") for i in java)):
            right += count
    want(right >= 0.98 * total(stacks), "%d of %d samples are right, one is %s"
         % (right, total(stacks), ";".join(max(stacks, key=lambda s: s[1])[0])))


def whole_threads():
    """Threads of the VM, which run no Java code, from their entry."""
    with Jvm("Hostile") as jvm:
        stacks = collapsed(good("-d", SECONDS, "-i", "1ms", "--cstack", "vmx", "-o", "collapsed",
                                jvm.pid))
    own = [(user(f), n) for f, n in stacks if not any(x.startswith("Hostile.") for x in f)]
    own = [(f, n) for f, n in own if len(f) > 1]
    entry = sum(n for f, n in own if any(re.match(r"clone|start_thread|\[libc", x) for x in f[:2]))
    want(total(own) > 20 and entry >= 0.98 * total(own),
         "%d of %d begin at a thread's entry" % (entry, total(own)))


def java_only():
    with Jvm("Hostile") as jvm:
        stacks = collapsed(good("-d", SECONDS, "-i", "1ms", "--cstack", "no", "-o", "collapsed",
                                jvm.pid))
    alone = sum(n for f, n in stacks if f == ["[no_Java_frame]"])
    want(0 < alone < total(stacks), "%d of %d samples have no Java frame" % (alone, total(stacks)))
    for frames, _ in stacks:
        for f in frames:
            want(re.fullmatch(r"\[\w+\]|(\w+/)*[\w$/]+(\.[\w$<>]+)+.*", f) and "_[k]" not in f
                 and "::" not in f and not f.startswith("Stub"), "%s in %s" % (f, frames))
    with Jvm("Callbacks", "fp") as jvm:
        mostly(walked(jvm, "no"), named(JAVA, "Fp"))


def switching(options):
    """A virtual thread's stack in pieces has a name and nothing that is not its own."""
    with Jvm("Switching", options=options) as jvm:
        if jvm.line() == "none":
            return
        stacks = collapsed(good("-d", SECONDS, "-i", "200us", "-o", "collapsed", jvm.pid))
    named_so = [(f, n) for f, n in stacks if f[0] == "[switching_virtual_thread]"]
    want(total(named_so) > 0, "no switch was seen in %d samples" % total(stacks))
    for frames, _ in named_so:
        want(not any("/" in f or f.startswith("Switching.") for f in frames), ";".join(frames))
    failed = sum(n for f, n in stacks if f[0] in ("[no_caller]", "[bad_frame]", "[loop]"))
    want(100.0 * failed <= total(stacks), "%d of %d failed otherwise" % (failed, total(stacks)))
    # A virtual thread's frames are under its run method, and that one is under its carrier's.
    ours = [(f, n) for f, n in stacks if "Switching.hand" in f and f[0][0] != "["]
    whole = sum(n for f, n in ours
                if "java/lang/VirtualThread.run" in f[:f.index("Switching.hand")]
                and f[0].startswith("java/util/concurrent/ForkJoinWorkerThread"))
    want(whole >= 0.99 * total(ours), "%d of %d stacks are whole" % (whole, total(ours)))


def says_which():
    """The report names the walker, where it is not the usual one."""
    with Jvm("Callbacks", "fp") as jvm:
        for mode in ("vm", "vmx", "fp", "dwarf", "no"):
            text = good("-d", 1, "--cstack", mode, "-o", "summary", jvm.pid)
            found = re.search(r"^walker +: (.+)$", text, re.M)
            want((found.group(1) if found else "vm") == mode, "no %s in: %s" % (mode, text))


def main():
    checks = Checks()
    checks.run("vm: frame pointers, then Java", java_then, "Fp", "vm", LEAF)
    checks.run("vm: callers without frame pointers", java_then, "Plain", "vm", LEAF)
    checks.run("fp: where there are frame pointers", java_then, "Fp", "fp", LEAF)
    checks.run("fp: callers without are lost", java_then, "Plain", "fp", LEAF[-1:])
    checks.run("dwarf: callers without frame pointers", java_then, "Plain", "dwarf", LEAF)
    checks.run("vmx: frame pointers", interleaved, "Fp", [])
    checks.run("vmx: unwind tables only", interleaved, "Plain", [])
    checks.run("vmx: interpreted", interleaved, "Plain", ["-Xint"])
    checks.run("vmx: the VM's threads", whole_threads)
    checks.run("no: Java frames only", java_only)
    checks.run("virtual threads that switch", switching, [])
    checks.run("virtual threads that switch, interpreted", switching, ["-Xint"])
    checks.run("the walker's name", says_which)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
