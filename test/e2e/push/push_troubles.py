#!/usr/bin/env python3
# timeout: 240
"""push and a receiver that is not well: what is wrong is one line, what can wait waits, in bounded
memory, and arrives once, in order, when the receiver is well again.

SECONDS_DEAD: how long one that is killed stays away (3)."""
import contextlib
import gzip
import hashlib
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from lib import Checks, Jvm, Prof, memory_kb, prof, quoted_messages, wait_for, want

MEMORY_KB = 150000
SECONDS_DEAD = int(os.environ.get("SECONDS_DEAD", "3"))
SAID = []  # by every push, for the table in the manual page
UNIT_TESTED = ("the oldest are dropped",)  # push_sender_test: a spool is 16 MiB at least here
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def answer(line, body=b"", *headers):
    head = ["HTTP/1.1 " + line, "Content-Length: %d" % len(body), *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def hang_up(_):
    pass


def silent(connection):
    with contextlib.suppress(OSError):
        while connection.recv(4096):
            pass


def cut_short(connection):
    connection.sendall(b"HTTP/1.1 503 Later\r\nContent-Length: 500\r\n\r\nhal")


def half_a_head(connection):
    connection.sendall(b"HTTP/1.1 20")


def huge(connection):
    """A gigabyte of answer, if one would take it."""
    with contextlib.suppress(OSError):
        connection.sendall(b"HTTP/1.1 503 Later\r\nContent-Length: 1073741824\r\n\r\n")
        for _ in range(1024):
            connection.sendall(b"x" * (1 << 20))


def endless_head(connection):
    with contextlib.suppress(OSError):
        connection.sendall(b"HTTP/1.1 503 Later\r\n")
        for i in range(1 << 20):
            connection.sendall(b"X-%d: %s\r\n" % (i, b"y" * 1000))


class Receiver:
    """Answers each request by what `well` or `trouble` is: bytes, or a function of the connection."""

    def __init__(self, trouble, port=0, context=None):
        self.trouble, self.context = trouble, context
        self.bodies, self.heads, self.asked = [], [], 0
        self.server = socket.socket()
        self.server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.server.bind(("127.0.0.1", port))
        self.server.listen(16)
        self.port = self.server.getsockname()[1]
        self.url = "%s://127.0.0.1:%d" % ("https" if context else "http", self.port)
        self.connections = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def request(self, stream):
        head = {}
        line = stream.readline()
        if not line:
            return None, None
        while True:
            part = stream.readline().strip()
            if not part:
                break
            name, value = part.split(b":", 1)
            head[name.lower().decode()] = value.strip().decode()
        body = stream.read(int(head.get("content-length", 0)))
        if head.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        return head, body

    def talk(self, connection):
        with contextlib.suppress(OSError, ValueError):
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
                self.connections.append(connection)
            with connection, connection.makefile("rb") as stream:
                while True:
                    head, body = self.request(stream)
                    if head is None:
                        return
                    self.asked += 1
                    trouble = self.trouble
                    if callable(trouble):
                        trouble(connection)
                        return
                    if trouble is None:
                        self.heads.append(head)
                        self.bodies.append(hashlib.sha1(body).hexdigest())
                    connection.sendall(trouble or OK)

    def end(self):
        with contextlib.suppress(OSError):
            self.server.shutdown(socket.SHUT_RDWR)  # ends its accept
        self.server.close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


class Push(Prof):
    def __init__(self, scratch, pid, url, *args):
        super().__init__(scratch, "push", pid, "--to", url, "--every", "1s", *args)

    def __exit__(self, *args):
        SAID.append(self.stderr())
        super().__exit__(*args)

    def lines(self, pattern=""):
        return [line for line in self.stderr().splitlines() if re.search(pattern, line)]

    def said(self, pattern):
        """Waits for the line, which is the only one of its kind."""
        wait_for(lambda: self.lines(pattern) or self.process.poll() is not None, pattern, 60)
        found = self.lines(pattern)
        want(len(found) == 1, "%s: %s" % (pattern, self.stderr()))
        want(len(found[0]) < 600 and found[0].isprintable(), repr(found[0]))
        want(memory_kb(self.pid) < MEMORY_KB, "%d KB" % memory_kb(self.pid))

    def finish(self):
        """Told to end; (sent, refused, lost, waiting) of its last line."""
        self.process.send_signal(signal.SIGTERM)
        want(self.process.wait(60) == 0, self.stderr())
        found = re.search(r"(\d+) sent, (\d+) refused, (\d+) lost(?:, (\d+) wait)?", self.stderr())
        want(found, self.stderr())
        return tuple(int(n or 0) for n in found.groups())


def all_arrived(push, receiver):
    """Each once, none given up."""
    sent, refused, lost, waiting = push.finish()
    want((refused, lost, waiting) == (0, 0, 0), push.stderr())
    want(sent == len(receiver.bodies) == len(set(receiver.bodies)),
         "%d sent, %d arrived, %d of them different: %s" % (
             sent, len(receiver.bodies), len(set(receiver.bodies)), push.stderr()))


def trouble(scratch, pid, what, pattern, *args):
    """It comes, is said, and goes."""
    with Receiver(what) as receiver, Push(scratch, pid, receiver.url, *args) as push:
        push.said(pattern)
        wait_for(lambda: receiver.asked >= 2, "a second try", 60)
        push.said(pattern)  # still once
        receiver.trouble = None
        push.said("accepts profiles again: [0-9]+ waited$")
        all_arrived(push, receiver)


def refused(scratch, pid, what, pattern):
    """This profile is given up, the next ones arrive."""
    with Receiver(what) as receiver, Push(scratch, pid, receiver.url) as push:
        push.said(pattern)
        receiver.trouble = None
        push.said("accepts profiles again: .*dropped$")
        sent, given_up, lost, waiting = push.finish()
        want(given_up >= 1 and (lost, waiting) == (0, 0), push.stderr())
        want(sent == len(receiver.bodies) == len(set(receiver.bodies)), push.stderr())


def retry_after(scratch, pid):
    what = answer("429 Slow", b"", "Retry-After: 3")
    with Receiver(what) as receiver, Push(scratch, pid, receiver.url) as push:
        push.said("answers 429")
        asked, since = receiver.asked, time.monotonic()
        wait_for(lambda: receiver.asked > asked, "another try", 60)
        want(asked > 1 or time.monotonic() - since > 2, "it came back before it was asked to")
        receiver.trouble = None
        push.said("accepts profiles again")
        all_arrived(push, receiver)


def redirect(scratch, pid, token):
    """A token does not follow it."""
    with Receiver(None) as elsewhere:
        for status in ("301 Moved", "307 There"):
            what = answer(status, b"", "Location: %s/x" % elsewhere.url)
            trouble(scratch, pid, what, "answers %s and redirects to %s/x.*not followed" % (
                status[:3], elsewhere.url), "--token-file", token)
        want(not elsewhere.asked, "it was followed")


def nobody_there(scratch, pid):
    """Refused connections, and a receiver that is killed in the middle: nothing is lost."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with Push(scratch, pid, "http://127.0.0.1:%d" % port) as push:
        push.said("cannot be reached: Connection refused")
        with Receiver(None, port) as receiver:
            push.said("accepts profiles again")
            before = wait_for(lambda: len(receiver.bodies) >= 3 and receiver.bodies, "profiles")
        time.sleep(SECONDS_DEAD)
        with Receiver(None, port) as receiver:
            wait_for(lambda: len(receiver.bodies) >= SECONDS_DEAD + 1, "those that waited, and more",
                     120)
            receiver.bodies = before + receiver.bodies
            all_arrived(push, receiver)


def no_name(scratch, pid):
    with Push(scratch, pid, "http://no-such-host.invalid:4318") as push:
        push.said("cannot be reached: its name has no address")


def never_answers(scratch, pid):
    """Of the ten seconds that it gets, none more at the end than asked for."""
    with Receiver(silent) as receiver, Push(scratch, pid, receiver.url) as push:
        push.said("did not answer in time")
        receiver.trouble = None
        push.said("accepts profiles again")


# ---- TLS ----

def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, check=False)
    want(done.returncode == 0, " ".join(command) + ": " + done.stdout)


class Authority:
    """Certificates of our own, in `place`."""

    def __init__(self, place):
        self.place = place
        self.new("ca", "-x509", "-subj", "/CN=Test CA", "-days", "30")

    def path(self, name):
        return os.path.join(self.place, name)

    def new(self, name, *args):
        run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", self.path(name + ".key"), "-out", self.path(name + ".pem"), *args)

    def sign(self, name, alternative, begin="20200101000000Z", end="20400101000000Z"):
        """Of `ca`, which signs with dates that x509 of an older OpenSSL cannot set."""
        self.new(name, "-subj", "/CN=" + name)
        own = tempfile.mkdtemp(dir=self.place)
        with open(os.path.join(own, "config"), "w", encoding="ascii") as f:
            f.write("[ca]\ndefault_ca=d\n[d]\ndatabase=%s/index\nserial=%s/serial\n"
                    "new_certs_dir=%s\ndefault_md=sha256\npolicy=p\nx509_extensions=e\n"
                    "[p]\ncommonName=supplied\n[e]\nsubjectAltName=%s\n" % (
                        own, own, own, alternative))
        with open(os.path.join(own, "index"), "wb"):
            pass
        with open(os.path.join(own, "serial"), "w", encoding="ascii") as f:
            f.write("%02X\n" % (len(os.listdir(self.place)) + 1))
        run("openssl", "ca", "-batch", "-notext", "-config", os.path.join(own, "config"),
            "-cert", self.path("ca.pem"), "-keyfile", self.path("ca.key"), "-in",
            self.path(name + ".pem"), "-out", self.path(name + ".pem"), "-startdate", begin,
            "-enddate", end)

    def context(self, name, client=False):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path(name + ".pem"), self.path(name + ".key"))
        if client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.path("ca.pem"))
        return context


def untrusted(scratch, pid, context, pattern, *args):
    """Nothing of a message reaches whom we do not trust."""
    with Receiver(None, context=context) as receiver:
        with Push(scratch, pid, receiver.url, *args) as push:
            push.said(pattern)
            time.sleep(1.5)  # another try
            push.said(pattern)
            want(not receiver.asked, "a message went out")


def tls(scratch, pid):
    own = Authority(tempfile.mkdtemp(dir=scratch))
    own.sign("good", "IP:127.0.0.1")
    own.sign("other", "DNS:other.example")
    own.sign("old", "IP:127.0.0.1", end="20210101000000Z")
    own.sign("client", "DNS:client")
    own.new("lone", "-x509", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
    ca = ("--tls-ca", own.path("ca.pem"))
    untrusted(scratch, pid, own.context("lone"), "certificate.*--tls-ca")
    untrusted(scratch, pid, own.context("lone"), "certificate.*--tls-ca", *ca)
    untrusted(scratch, pid, own.context("other"), "certificate.*127.0.0.1.*name", *ca)
    untrusted(scratch, pid, own.context("old"), "certificate.*(its dates|expired)", *ca)
    untrusted(scratch, pid, own.context("good", client=True), "--tls-cert", *ca)
    with Receiver(None) as plain:  # which speaks no TLS
        with Push(scratch, pid, plain.url.replace("http:", "https:"), *ca) as push:
            push.said("does not speak TLS")
    with Receiver(None, context=own.context("good", client=True)) as receiver:
        with Push(scratch, pid, receiver.url, *ca, "--tls-cert", own.path("client.pem"),
                  "--tls-key", own.path("client.key")) as push:
            wait_for(lambda: len(receiver.bodies) >= 2, "profiles over TLS", 60)
            all_arrived(push, receiver)
            want(len(push.lines()) == 3, "all was well: " + push.stderr())


# ---- tokens ----

def new_token(scratch, pid, token):
    """401 until the file has the right one, which goes along at once."""
    with Receiver(answer("401 No")) as receiver:
        with Push(scratch, pid, receiver.url, "--token-file", token) as push:
            push.said("answers 401, the token is missing or wrong")
            receiver.trouble = None
            with open(token, "w", encoding="ascii") as f:
                f.write("another\n")
            push.said("accepts profiles again")
            all_arrived(push, receiver)
            want("another" not in push.stderr(), "the token was said")
        want(receiver.heads[-1]["authorization"] == "Bearer another", str(receiver.heads[-1]))


def not_begun(pid, pattern, *args):
    done = prof("push", pid, *args)
    SAID.append(done.stderr)
    want(done.returncode == 1, "exit %d: %s" % (done.returncode, done.stderr))
    want(re.search(pattern, done.stderr) and len(done.stderr.splitlines()) == 1, done.stderr)


def bad_files(scratch, pid):
    place = tempfile.mkdtemp(dir=scratch)
    token, spool = os.path.join(place, "token"), os.path.join(place, "spool")
    to = ("--to", "https://127.0.0.1:1")
    not_begun(pid, "token file %s: No such file" % token, *to, "--token-file", token)
    with open(token, "w", encoding="ascii") as f:
        f.write("secret\n")
    os.chmod(token, 0o644)
    not_begun(pid, "token file .*chmod 600", *to, "--token-file", token)
    os.chmod(token, 0o600)
    not_begun(pid, "only over https", "--to", "http://192.0.2.1:1", "--token-file", token)
    os.mkdir(spool, 0o755)
    os.chmod(spool, 0o755)
    not_begun(pid, "spool %s: other users can read it.*chmod 700" % spool, *to, "--spool", spool)
    os.chmod(spool, 0o700)
    if os.geteuid() == 0:
        os.chown(spool, 12345, 12345)
        not_begun(pid, "spool %s: belongs to uid 12345" % spool, *to, "--spool", spool)
        os.chown(spool, 0, 0)
    link = os.path.join(place, "link")
    os.symlink(spool, link)
    not_begun(pid, "spool %s: not a directory" % link, *to, "--spool", link)
    not_begun(pid, "spool /proc/self/spool: cannot be created", *to, "--spool", "/proc/self/spool")


# ---- the spool ----

def files(spool):
    return sorted(f for f in os.listdir(spool) if f.endswith(".profile"))


def killed(scratch, pid):
    """kill -9 while the receiver is down; the next push sends what waited, first and once."""
    spool = os.path.join(tempfile.mkdtemp(dir=scratch), "spool")
    with Receiver(answer("503 Later")) as receiver:
        with Push(scratch, pid, receiver.url, "--spool", spool) as push:
            push.said("answers 503")
            wait_for(lambda: len(files(spool)) >= 3, "files in the spool", 60)
            not_begun(pid, "another push uses it", "--to", receiver.url, "--spool", spool)
            push.process.kill()
            push.process.wait(30)
        left = files(spool)
        receiver.trouble = None
        with Push(scratch, pid, receiver.url, "--spool", spool) as push:
            push.said("%d profiles of an earlier push" % len(left))
            wait_for(lambda: len(receiver.bodies) >= len(left) + 2, "those and new ones", 60)
            wait_for(lambda: not files(spool), "an empty spool")
            all_arrived(push, receiver)


@contextlib.contextmanager
def small_disk(scratch):
    place = tempfile.mkdtemp(dir=scratch)
    run("mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", place)
    try:
        yield place
    finally:
        run("umount", "-l", place)


def disk_full(scratch, pid):
    """One line; memory takes over; when there is room again, so does the disk."""
    if os.geteuid() != 0:
        print("# takes root")
        return
    with small_disk(scratch) as place, Receiver(answer("503 Later")) as receiver:
        filler = os.path.join(place, "filler")
        with Push(scratch, pid, receiver.url, "--spool", os.path.join(place, "spool")) as push:
            push.said("answers 503")
            with contextlib.suppress(OSError), open(filler, "wb", 0) as f:
                while f.write(b"x" * 4096) > 0:
                    pass
            push.said("No space left.*wait in memory")
            os.unlink(filler)
            push.said("spool .* accepts profiles again")
            receiver.trouble = None
            push.said("[0-9] accepts profiles again: [0-9]+ waited$")
            all_arrived(push, receiver)


def all_provoked():
    said = "\n".join(SAID)
    messages = quoted_messages("push")
    want(messages, "no table")
    missing = [m for m in messages if m not in said and m not in UNIT_TESTED]
    want(not missing, "the manual has it, and nothing here provoked it: %s" % missing)


def main():
    checks = Checks()
    scratch = tempfile.mkdtemp()
    token = os.path.join(scratch, "token")
    with open(token, "w", encoding="ascii") as f:
        f.write("first\n")
    os.chmod(token, 0o600)
    try:
        with Jvm("Shares", "single") as jvm:
            pid = jvm.pid
            run_all(checks, scratch, pid, token)
        checks.run("the table in the manual page", all_provoked)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return checks.code()


def run_all(checks, scratch, pid, token):
    waits = [("answer " + line, trouble, scratch, pid, answer(line, body), pattern)
             for line, body, pattern in (
                 ("403 No", b"", "answers 403.*--token-file"),
                 ("404 No", b"<html>no</html>", "answers 404, no profiles are accepted at this path"),
                 ("503 Later", b"loading", "answers 503, not available: loading$"),
                 ("502 Bad", b"\x1b[31mred\n", "answers 502"))]
    waits += [(what.__name__.replace("_", " "), trouble, scratch, pid, what, pattern)
              for what, pattern in (
                  (hang_up, "closed the connection without an answer|cannot be contacted"),
                  (cut_short, "answers 503"), (huge, "answers 503"),
                  (half_a_head, "answer"), (endless_head, "endless headers|answers 503"))]
    gone = [("answer " + line, refused, scratch, pid, answer(line, body), pattern)
            for line, body, pattern in (
                ("400 Bad", b"what is this?", "answers 400.*dropped: what is this"),
                ("413 Large", b"", "413.*too large"), ("422 Hm", b"", "answers 422"))]
    checks.together(
        ("TLS", tls, scratch, pid), ("never answers", never_answers, scratch, pid),
        ("killed, and begun again", killed, scratch, pid), ("disk full", disk_full, scratch, pid),
        ("redirects", redirect, scratch, pid, token),
        ("nobody there", nobody_there, scratch, pid), ("no such name", no_name, scratch, pid),
        ("Retry-After", retry_after, scratch, pid),
        ("what cannot work", bad_files, scratch, pid), *waits, *gone)
    checks.run("a new token", new_token, scratch, pid, token)


if __name__ == "__main__":
    sys.exit(main())
