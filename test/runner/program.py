"""One test program: what it says of itself, how it is run, what it said."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEEPER = os.path.join(ROOT, "test", "runner", "keeper.py")
MODULES = os.path.join(ROOT, "test", "e2e", "lib")  # of the end-to-end scripts
LIMIT = 120         # seconds a program may take; a sanitizer's build has three times that
MEGABYTES = 2048    # of private memory, all its processes together
SANITIZER_SAYS = re.compile(r"AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error:")
SKIPPED = re.compile(r"ok\b[\d\s-]*(.*?)\s*# SKIP\b\s*(.*)")
MARKS = re.compile(r"^(?:#|//|/\*) ((?:(?:timeout: \d+|tier: fast|runs: alone)(?:, )?)+)", re.M)


class Marks:
    """The line near the top of a program's text that is for the runner:

        # timeout: 300, tier: fast, runs: alone

    timeout  seconds it may take [default: 120]
    tier     fast: `make test` runs it too [default: only `make test-all`]
    runs     alone: it measures something that others would disturb [default: beside others]
    """

    def __init__(self, path):
        with open(path, encoding="utf-8", errors="replace") as f:
            found = MARKS.search(f.read(2000))
        words = dict(w.split(": ") for w in found.group(1).rstrip(", ").split(", ")) if found else {}
        self.timeout = int(words.get("timeout", LIMIT))
        self.fast = words.get("tier") == "fast"
        self.alone = words.get("runs") == "alone"


class Result:
    def __init__(self, name, passed, failures, seconds, skipped=()):
        self.name, self.passed, self.failures, self.seconds = name, passed, failures, seconds
        self.skipped = skipped  # tests that this machine cannot run


def log_of(out, name):
    return os.path.join(out, name.replace("/", "-") + ".log")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def has_report(log):
    """Whether a sanitizer found something: that stands, whatever a second run does."""
    return bool(SANITIZER_SAYS.search(read(log)))


def read_tap(text):
    """(number of passed tests, texts of those that failed); a skipped one is neither."""
    passed, failures = 0, []
    for line in text.splitlines():
        found = re.match(r"(not )?ok\b\s*(.*)", line)
        if not found or SKIPPED.match(line):
            continue
        if found.group(1):
            failures.append(found.group(2))
        else:
            passed += 1
    return passed, failures


def execute(out, name, argv, more, limit=LIMIT):
    """Runs a program to its end, and all it started with it; its whole output is in log_of()."""
    log = log_of(out, name)
    scratch = tempfile.mkdtemp(prefix="jtop-prof-test-")
    os.chmod(scratch, 0o755)  # some checks run as another user
    os.mkdir(os.path.join(scratch, "cache"), 0o755)
    env = dict(os.environ, TMPDIR=scratch, XDG_CACHE_HOME=os.path.join(scratch, "cache"),
               LC_ALL="C.UTF-8", PYTHONPATH=MODULES, **more)
    env.setdefault("GOCACHE", os.path.expanduser("~/.cache/go-build"))  # tools of Go: else built anew
    env.pop("MAKEFLAGS", None)  # of a make that runs us: its job slots are not ours
    env.pop("MAKELEVEL", None)
    command = [sys.executable, KEEPER, str(limit), str(MEGABYTES), log] + list(argv)
    with subprocess.Popen(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, start_new_session=True, text=True) as keeper:
        said = keeper.communicate()[0]
    shutil.rmtree(scratch, ignore_errors=True)
    if not said:
        return Result(name, 0, ["its keeper was killed"], 0)
    said = json.loads(said)
    text = read(log)
    passed, failures = read_tap(text)
    if name.startswith("fuzz/") and said["code"] == 0:
        passed += 1
    planned = re.search(r"^1\.\.(\d+)", text, re.M)
    if said["late"]:
        failures.append("still ran after %d s" % limit)
    elif said["large"]:
        failures.append("used %d MB of memory, %d at most" % (said["megabytes"], MEGABYTES))
    elif said["code"] and not failures:
        failures.append("exit code %d" % said["code"])
    elif planned and int(planned.group(1)) > len(re.findall(r"^(?:not )?ok\b", text, re.M)):
        failures.append("ended before its last test")
    elif not passed and not failures and "# SKIP" not in text:
        failures.append("ran no test")
    if said["left"]:
        failures.append("left running: " + "; ".join(said["left"]))
    skipped = [" ".join(found.groups()) for line in text.splitlines()
               for found in [SKIPPED.match(line)] if found]
    return Result(name, passed, failures, said["seconds"], skipped)
