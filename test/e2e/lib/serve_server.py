"""`jtop-prof serve` in the background, requests that no client would make, and certificates."""
import contextlib
import http.client
import os
import re
import socket
import subprocess
import time

from lib import Prof, WAIT, wait_for, want


class Server(Prof):
    """Listens at a free port of 127.0.0.1, unless options say where."""

    def __init__(self, scratch, *options, **kwargs):
        where = () if "--listen" in options else ("--listen", "127.0.0.1:0")
        super().__init__(scratch, "serve", *where, *options, **kwargs)
        self.url = wait_for(self.address, "the server")
        self.port = int(re.search(r":(\d+)/$", self.url).group(1))

    def address(self):
        found = re.search(r"serving (https?://\S+)", self.stderr())
        want(found or self.process.poll() is None, "it ended: %s" % self.stderr())
        return found.group(1) if found else None

    def ask(self, path="/", method="GET", headers=None, body=None, host="127.0.0.1"):
        """(status, headers in lower case, body)"""
        connection = http.client.HTTPConnection(host, self.port, timeout=WAIT)
        with contextlib.closing(connection):
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, text

    def status(self, *args, **kwargs):
        return self.ask(*args, **kwargs)[0]

    def raw(self, data, seconds=WAIT):
        """All that comes back for these bytes, until the other side has enough."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as s:
            with contextlib.suppress(ConnectionError, BrokenPipeError):
                s.sendall(data)
            return take_all(s, seconds)

    def end(self):
        """SIGTERM; returns how long it took."""
        began = time.monotonic()
        self.process.terminate()
        code = self.process.wait(WAIT)
        want(code == 0, "exit %d: %s" % (code, self.stderr()))
        return time.monotonic() - began


def take_all(s, seconds):
    got, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            part = s.recv(65536)
        except (ConnectionError, socket.timeout):
            break
        if not part:
            break
        got += part
    return got


def openssl(*args, where):
    done = subprocess.run(["openssl", *args], cwd=where, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    want(done.returncode == 0, "openssl %s: %s" % (args[0], done.stderr))


def authority(where, name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", name + ".key", "-out", name + ".pem", "-days", "2", "-subj", "/CN=" + name,
            where=where)


def certificate(where, name, signer, use, days=2):
    """NAME.pem and NAME.key, of an authority that is there; use: serverAuth or clientAuth. Days
    below zero: it is over."""
    extensions = os.path.join(where, name + ".ext")
    with open(extensions, "w", encoding="ascii") as f:
        f.write("subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=%s\n" % use)
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name, where=where)
    openssl("x509", "-req", "-in", name + ".csr", "-CA", signer + ".pem", "-CAkey",
            signer + ".key", "-CAcreateserial", "-days", str(days), "-extfile", extensions,
            "-out", name + ".pem", where=where)
    return os.path.join(where, name + ".pem"), os.path.join(where, name + ".key")
