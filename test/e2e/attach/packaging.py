#!/usr/bin/env python3
# timeout: 600, runs: alone
"""What is handed to others works where it lands: `make dist` unpacked anywhere and in a root file
system with nothing in it, `make deb` by its dependencies, `make install` and `make uninstall`; the
systemd unit and the Kubernetes manifest say what their readers understand, and give the rights that
profiling another user's JVM takes."""
import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from lib import BUILD, PROF, ROOT, Checks, Jvm, collapsed, read, self_percent, want

UNIT = os.path.join(ROOT, ".packaging", "jtop-prof-push.service")
MANIFEST = os.path.join(ROOT, ".packaging", "daemonset.yaml")
NOBODY = 65534


def call(*command, **kwargs):
    done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **kwargs)
    want(done.returncode == 0, "%s: %s" % (" ".join(map(str, command)), done.stdout[-500:]))
    return done.stdout


def make(*arguments):
    return call("make", "--no-print-directory", "-j", os.cpu_count() or 1, "BUILD=" + BUILD,
                *arguments, cwd=ROOT)


def files(place):
    return sorted(os.path.relpath(os.path.join(d, f), place)
                  for d, _, names in os.walk(place) for f in names)


def right(output):
    """A collapsed profile of Shares."""
    share = self_percent(collapsed(output)).get("a50", 0)
    want(30 <= share <= 70, "a50 has %.1f %%: %s" % (share, output[-300:]))


@contextlib.contextmanager
def profiled():
    with Jvm("Shares", "single") as jvm:
        yield jvm.pid


@contextlib.contextmanager
def hidden_proc(place):
    """/proc in a root file system; a mount of this test's only."""
    where = os.path.join(place, "proc")
    os.makedirs(where)
    call("mount", "-t", "proc", "proc", where)
    try:
        yield
    finally:
        call("umount", where)


def dist(scratch):
    make("dist")
    tar = glob.glob(os.path.join(BUILD, "jtop-prof-*-linux-*.tar.gz"))
    want(len(tar) == 1, "there are %s" % tar)
    place = os.path.join(scratch, "some where")
    os.makedirs(place)
    call("tar", "-xzf", tar[0], "-C", place, "--strip-components=1")
    found = files(place)
    for name in ("bin/jtop-prof", "lib/jtop-prof/libjtop-agent.so", "LICENSE", "README.md",
                 "share/man/man1/jtop-prof.1", "share/jtop-prof/themes/light.theme",
                 "share/bash-completion/completions/jtop-prof"):
        want(name in found, "%s is missing: %s" % (name, found))
    with open(os.path.join(place, "README.md")) as readme:
        for picture in re.findall(r"!\[[^]]*\]\(([^)]*)\)", readme.read()):
            want(picture in found, "README.md shows %s, which is missing" % picture)
    program = os.path.join(place, "bin", "jtop-prof")
    want("statically" in call(program, "--version"), "the frontend is not static")
    needed = call("readelf", "-dW", program)
    want("NEEDED" not in needed, needed)
    with profiled() as pid:
        right(call(program, "-d", 2, "-o", "collapsed", pid, cwd="/"))
    return place


def empty(scratch, place):
    """No library, no /etc, no terminfo: only the tar's content and /proc."""
    root = os.path.join(scratch, "root")
    shutil.copytree(place, os.path.join(root, "opt"))
    with profiled() as pid, hidden_proc(root):
        right(call("chroot", root, "/opt/bin/jtop-prof", "-d", 2, "-o", "collapsed", pid))


def installed(scratch):
    place = os.path.join(scratch, "installed")
    make("install", "DESTDIR=" + place, "PREFIX=/opt/jtop")
    found = files(place)
    want("opt/jtop/bin/jtop-prof" in found and
         "opt/jtop/share/man/man7/jtop-prof.7" in found, str(found))
    program = place + "/opt/jtop/bin/jtop-prof"
    with profiled() as pid:
        right(call(program, "-d", 2, "-o", "collapsed", pid))
        finds_the_other(program, pid)
    make("uninstall", "DESTDIR=" + place, "PREFIX=/opt/jtop")
    want(not files(place), "uninstall left " + str(files(place)))


def finds_the_other(program, pid):
    """push is what jtop-prof-http does: it says, of a host that is not there, what is wrong."""
    asked = subprocess.run([program, "push", str(pid), "--to", "nowhere"], text=True, check=False,
                           stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)
    want(asked.returncode == 1 and "--to nowhere" in asked.stderr,
         "exit %d: %s" % (asked.returncode, asked.stderr))


def deb(scratch):
    if not shutil.which("dpkg-deb"):
        print("# no dpkg here")
        return
    make("deb")
    package = glob.glob(os.path.join(BUILD, "jtop-prof_*.deb"))
    want(len(package) == 1, "there are %s" % package)
    depends = call("dpkg-deb", "-f", package[0], "Depends")
    for library in ("libc6 (>= ", "libelf1", "libtinfo6", "libzip4", "zlib1g"):
        want(library in depends, "%s is not in: %s" % (library, depends))
    recommends = call("dpkg-deb", "-f", package[0], "Recommends")
    for library in ("libmicrohttpd12", "libcurl", "libgnutls30", "ca-certificates"):
        want(library in recommends, "%s is not in: %s" % (library, recommends))
        want(library not in depends, "%s is in: %s" % (library, depends))
    want("libelf1" not in recommends, "it is there already: " + recommends)
    if shutil.which("lintian"):
        told = call("lintian", package[0])
        want("E: " not in told, told)
    # dpkg keeps its books in an empty root, and unpacks there.
    root = os.path.join(scratch, "debian")
    os.makedirs(os.path.join(root, "var/lib/dpkg/updates"))
    os.makedirs(os.path.join(root, "var/lib/dpkg/info"))
    for name in ("status", "available"):
        with open(os.path.join(root, "var/lib/dpkg", name), "w", encoding="ascii"):
            pass
    dpkg = ("dpkg", "--root=" + root, "--force-depends", "--force-not-root", "--log=/dev/null",
            "--force-script-chrootless")
    call(*dpkg, "--install", package[0])
    program = os.path.join(root, "usr/bin/jtop-prof")
    want(os.path.exists(os.path.join(root, "usr/lib/systemd/system/jtop-prof-push.service")) and
         os.path.exists(os.path.join(root, "usr/share/doc/jtop-prof/examples/daemonset.yaml")),
         "the recipes are not in the package")
    with profiled() as pid:
        right(call(program, "-d", 2, "-o", "collapsed", pid))
        finds_the_other(program, pid)
    call(*dpkg, "--purge", "jtop-prof")
    left = [f for f in files(root) if not f.startswith("var/lib/dpkg/")]
    want(not left, "removal left " + str(left))


# ---- recipes ----

def capabilities_of_unit():
    found = re.search(r"^CapabilityBoundingSet=(.+)$", read(UNIT), re.M)
    want(found, "no bounding set")
    return {c.lower().replace("cap_", "") for c in found.group(1).split()}


def unit(scratch):
    """systemd knows each line; what it starts takes its options."""
    text = read(UNIT)
    command = re.search(r"^ExecStart=(\S+) (.+)$", text, re.M)
    want(command and command.group(1) == "/usr/bin/jtop-prof", "what does it start?")
    words = command.group(2).replace("$PUSH_OPTIONS", "--to nowhere").split()
    words[words.index("/var/lib/jtop-prof-push")] = os.path.join(scratch, "spool")
    asked = subprocess.run([PROF, *words], text=True, check=False, stdin=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, timeout=60)
    want(asked.returncode == 1 and "--to nowhere" in asked.stderr, asked.stderr)
    if not shutil.which("systemd-analyze"):
        print("# no systemd-analyze here")
        return
    copy = os.path.join(scratch, "jtop-prof-push.service")
    with open(copy, "w", encoding="utf-8") as f:
        f.write(text.replace("=/usr/bin/jtop-prof ", "=%s " % PROF))
    done = subprocess.run(["systemd-analyze", "--man=no", "verify", copy], text=True, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    own = [line for line in done.stdout.splitlines() if "jtop-prof-push" in line]
    want(not own, " ".join(own))


def manifest(scratch):
    """It is YAML, asks for the rights that the unit has, and its arguments are options."""
    try:
        import yaml  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("# no python3-yaml here")
        return
    with open(MANIFEST, encoding="utf-8") as f:
        parts = {p["kind"]: p for p in yaml.safe_load_all(f)}
    want(set(parts) == {"Namespace", "DaemonSet"}, str(list(parts)))
    spec = parts["DaemonSet"]["spec"]
    pod, labels = spec["template"]["spec"], spec["template"]["metadata"]["labels"]
    want(spec["selector"]["matchLabels"] == labels, "it does not select its own pods")
    want(pod["hostPID"] is True, "it sees its own processes only")
    push, = pod["containers"]
    rights = push["securityContext"]
    want(rights["capabilities"]["drop"] == ["ALL"], str(rights))
    want({c.lower() for c in rights["capabilities"]["add"]} == capabilities_of_unit(),
         "other capabilities than the unit's: %s" % rights)
    mounts = {m["name"]: m["mountPath"] for m in push["volumeMounts"]}
    want(set(mounts) == {v["name"] for v in pod["volumes"]}, "volumes and mounts differ")
    arguments = []
    for word in push["args"]:
        option = word.split("=")[0]
        if option in ("--token-file", "--tls-ca", "--spool"):
            want(word.split("=")[1].startswith(tuple(m + "/" for m in mounts.values())),
                 "%s is in none of %s" % (word, mounts))
            word = "%s=%s" % (option, os.path.join(scratch, "none", "of"))
        arguments.append(word)
    asked = subprocess.run([PROF, *arguments], text=True, check=False, stdin=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, timeout=60)
    want(asked.returncode == 1 and "none/of" in asked.stderr, asked.stderr)


def another_users_jvm(scratch):
    """Root with the unit's capabilities and no others profiles it, and reads what it needs."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        print("# takes root and setpriv")
        return
    classes = os.path.join(scratch, "classes")  # the build may be where nobody may look
    os.makedirs(classes)
    for path in glob.glob(os.path.join(BUILD, "java", "Shares*.class")):
        shutil.copy(path, classes)
    bounded = ("setpriv", "--no-new-privs", "--bounding-set=-all," +
               ",".join("+" + c for c in sorted(capabilities_of_unit())))
    options = ("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups")
    with Jvm("Shares", "single", before=options, classes=classes, cwd="/") as jvm:
        right(call(*bounded, PROF, "-d", 2, "-o", "collapsed", jvm.pid))
        about = call(*bounded, PROF, "doctor", jvm.pid).split("\nJVM %d" % jvm.pid)[1]
        want("is missing" not in about and "ermission denied" not in about, about[-500:])


def main():
    checks = Checks()
    scratch = tempfile.mkdtemp()
    os.chmod(scratch, 0o755)
    try:
        place = []
        checks.run("make dist, unpacked", lambda: place.append(dist(scratch)))
        if place:
            checks.run("in an empty root file system", empty, scratch, place[0])
        checks.run("make install and uninstall", installed, scratch)
        checks.run("make deb, installed and removed", deb, scratch)
        checks.run("the systemd unit", unit, scratch)
        checks.run("the Kubernetes manifest", manifest, scratch)
        checks.run("another user's JVM, with the unit's capabilities", another_users_jvm, scratch)
    finally:
        shutil.rmtree(scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
