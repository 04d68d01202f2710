#!/usr/bin/env python3
# timeout: 240, tier: fast
"""The server: what is asked of a request, who may ask, where it listens, how it ends.
"""
import contextlib
import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

from lib import Checks, Jvm, Prof, connections, links, prof, wait_for, want
from serve_server import Server, authority, certificate

TOKEN = "0123456789abcdef0123456789abcdef"
BEARER = {"Authorization": "Bearer " + TOKEN}
SECURITY = {"x-content-type-options": "nosniff", "x-frame-options": "DENY",
            "referrer-policy": "no-referrer", "cache-control": "no-store",
            "cross-origin-resource-policy": "same-origin",
            "cross-origin-opener-policy": "same-origin"}


def check_status(server, expected, path, **how):
    status, headers, text = server.ask(path, **how)
    want(status == expected, "%s %s: %d, wanted %d: %s" % (how, path[:80], status, expected,
                                                          text[:200]))
    for name, value in SECURITY.items():
        if name == "referrer-policy" and 'action="/login"' in text:
            value = "same-origin"  # else a browser sends the form without saying where from
        want(headers.get(name) == value, "%s %d: %s is %s" % (path, status, name,
                                                              headers.get(name)))
    policy = headers.get("content-security-policy", "")
    want("default-src 'none'" in policy and "frame-ancestors 'none'" in policy, policy)
    want("'unsafe-inline'" not in policy.split("script-src")[-1].split(";")[0] or
         "script-src" not in policy, policy)
    return headers, text


def routes(server):
    want(check_status(server, 200, "/healthz")[1] == "ok\n", "healthz")
    check_status(server, 200, "/")
    check_status(server, 200, "/metrics")
    _, text = check_status(server, 200, "/api/v1/jvms")
    want(isinstance(json.loads(text), list), text[:100])
    headers, text = check_status(server, 404, "/etc/passwd")
    want(all(w in text for w in ("/prof", "/live/", "/metrics", "/api/v1/")), text)
    want(headers["content-type"].startswith("text/plain"), headers["content-type"])
    headers, text = check_status(server, 404, "/no<script>", headers={"Accept": "text/html,*/*"})
    want(headers["content-type"].startswith("text/html"), headers["content-type"])
    want("<script>" not in text and "&lt;script&gt;" in text, text)
    for path in ("/healthz/", "/healthzz", "/live/abc", "/live/0", "/live/99999999999",
                 "/live/../../etc/passwd", "/..%2f..%2fetc/passwd", "/prof/../../etc/passwd"):
        check_status(server, 404, path)


def methods(server):
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND"):
        headers, _ = check_status(server, 405, "/healthz", method=method)
        want(headers["allow"] == "GET, HEAD", headers["allow"])
    check_status(server, 405, "/prof", method="POST", body="a=b")
    status, headers, text = server.ask("/healthz", method="HEAD")
    want((status, headers["content-length"], text) == (200, "3", ""), "%d %s" % (status, headers))
    status, headers, _ = server.ask("/nothing", method="HEAD")
    want(status == 404 and int(headers["content-length"]) > 20, headers)


def sizes(server):
    check_status(server, 414, "/" + "a" * 4096)
    check_status(server, 404, "/" + "a" * 4095)
    check_status(server, 431, "/healthz", headers={"X-%d" % i: "y" for i in range(70)})
    check_status(server, 431, "/healthz", headers={"X-Long": "y" * 17000})
    check_status(server, 200, "/healthz", headers={"X-Long": "y" * 15000})
    check_status(server, 413, "/login", method="POST", body="a" * 4097)
    check_status(server, 303, "/login", method="POST", body="a=" + "a" * 1000)
    check_status(server, 411, "/login", method="POST", headers={"Transfer-Encoding": "chunked"},
                 body=iter([b"0\r\n\r\n"]))
    # What the library cannot even keep it refuses by itself.
    for data, codes in ((b"GET /" + b"a" * 300000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                         b"414|413|431"),
                        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 300000 + b"\r\n\r\n",
                         b"431")):
        answer = server.raw(data)
        want(not answer or re.match(rb"HTTP/1.1 (%s) " % codes, answer), answer[:100])


def parameters(server):
    for question, says in (("pid=%zz", "pid: a % without"), ("pid=%", "pid: a %"),
                           ("pid=%ff", "pid: not UTF-8"), ("pid=%00", "pid: not UTF-8"),
                           ("pid=%0a", "pid: not UTF-8"), ("pid=" + "1" * 1025, "pid: longer than"),
                           ("&".join("a%d=1" % i for i in range(65)), "more than 64")):
        _, text = check_status(server, 400, "/prof?" + question)
        want(says in text, "%s: %s" % (question[:40], text))


def hosts(server):
    for good in ("127.0.0.1", "localhost:%d" % server.port, "LOCALHOST", "[::1]:9000",
                 "127.0.0.1:1234"):
        check_status(server, 200, "/healthz", headers={"Host": good})
    for bad in ("evil.example", "evil.example:%d" % server.port, "127.0.0.1.evil.example",
                "localhost.evil.example", "10.0.0.1"):
        check_status(server, 421, "/healthz", headers={"Host": bad})
    for bad in ("local host", "a/b", "<script>", ""):
        check_status(server, 400, "/healthz", headers={"Host": bad})
    # Two of them, none of them.
    for lines in (b"Host: localhost\r\nHost: localhost\r\n", b""):
        answer = server.raw(b"GET /healthz HTTP/1.1\r\n" + lines + b"Connection: close\r\n\r\n")
        want(answer.startswith(b"HTTP/1.1 400 "), answer[:100])


def sites(server):
    own = "http://127.0.0.1:%d" % server.port
    check_status(server, 200, "/healthz", headers={"Origin": own})
    for bad in ("http://evil.example", "null", "http://127.0.0.1:1", own + ".evil.example"):
        check_status(server, 403, "/healthz", headers={"Origin": bad})
    for site in ("cross-site", "same-site", "whatever"):
        check_status(server, 403, "/prof?pid=1", headers={"Sec-Fetch-Site": site})
        check_status(server, 403, "/", headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "cors"})
        check_status(server, 403, "/prof", headers={"Sec-Fetch-Site": site,
                                                    "Sec-Fetch-Mode": "navigate"})
        # A link somewhere else may lead to a page.
        check_status(server, 200, "/", headers={"Sec-Fetch-Site": site,
                                                "Sec-Fetch-Mode": "navigate"})
    for site in ("none", "same-origin"):
        check_status(server, 200, "/", headers={"Sec-Fetch-Site": site})


def zipped(server):
    def fetch(accepted):
        command = ["curl", "-s", "-D", "-", "-H", "Accept-Encoding: " + accepted, server.url]
        return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.split(
            b"\r\n\r\n", 1)
    head, body = fetch("br, gzip")
    want(b"Content-Encoding: gzip" in head and b"Vary: Accept-Encoding" in head, head)
    want(b"</html>" in gzip.decompress(body), "not the page")
    for accepted in ("br", "gzip;q=0", "identity"):
        head, body = fetch(accepted)
        want(b"Content-Encoding" not in head and b"</html>" in body, head)


def raw_requests(server):
    """What only a hand writes: each gets an answer or an end, and the next one is answered."""
    for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
                 b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET  /  HTTP/1.1\r\n\r\n",
                 b"GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
                 b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\0" * 1000,
                 b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
                 b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
                 b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as s:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            answer = s.recv(4096)
        want(not answer or re.match(rb"HTTP/1\.[01] [45]\d\d ", answer), "%r: %r" % (data[:40],
                                                                                  answer[:80]))
    want(server.status("/healthz") == 200, "the next one")


def kept_alive(server):
    """Several on one connection, also when they come at once."""
    one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = b"GET /api/v1/jvms HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = server.raw(one * 20 + last)
    want(answer.count(b"HTTP/1.1 200 OK") == 21, "%d answers" % answer.count(b"HTTP/1.1 200"))


def gone_in_the_middle(server):
    """Clients that do not wait for the answer leave nothing."""
    before = len(os.listdir("/proc/%d/fd" % server.pid))
    for i in range(60):
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as s:
            s.sendall(b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n"
                      % (b"metrics" if i % 2 else b"")[:30])
    wait_for(lambda: len(os.listdir("/proc/%d/fd" % server.pid)) <= before + 2,
             "its descriptors to be %d again" % before)


def slow(server):
    """Half a request, and a byte now and then: it is ended after ten seconds."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - began < 60:
                s.settimeout(0.5)
                with contextlib.suppress(socket.timeout):
                    if not s.recv(100):
                        break
                s.sendall(b"y")
    took = time.monotonic() - began
    want(5 < took < 40, "%.1f s" % took)


def plain(scratch):
    with Server(scratch) as server:
        want(server.url == "http://127.0.0.1:%d/" % server.port, server.url)
        want(len(server.stderr().splitlines()) == 1 and not server.stdout(), server.stderr())
        checks = Checks()
        for check in (routes, methods, sizes, parameters, hosts, sites, zipped, raw_requests,
                      kept_alive, gone_in_the_middle, slow):
            checks.run("plain: " + check.__name__, check, server)
        want(checks.failed == 0, "see above")
        server.end()


def follow(scratch):
    """A stream goes on, is heard by two, and ends as such with the server."""
    with Jvm("Shares") as jvm, Server(scratch) as server:
        path = "%sapi/v1/jvms/%d/events" % (server.url, jvm.pid)
        readers = [subprocess.Popen(["curl", "-sN", path], stdout=subprocess.PIPE)
                   for _ in range(2)]
        for reader in readers:
            views = 0
            while views < 3:
                line = reader.stdout.readline()
                want(line, "the stream ended")
                views += line.startswith(b"event: view")
        # A HEAD of it does not wait for an end.
        status, headers, _ = server.ask("/api/v1/jvms/%d/events" % jvm.pid, method="HEAD")
        want(status == 200 and headers["content-type"].startswith("text/event-stream"), headers)
        server.end()
        for reader in readers:
            reader.stdout.read()
            want(reader.wait(30) == 0, "curl: %d" % reader.returncode)


def waits(scratch):
    """Who waits for a profile when the server ends does not take nothing for the result."""
    with Jvm("Shares") as jvm, Server(scratch) as server:
        asked = "%sprof?pid=%d&duration=600&output=flat" % (server.url, jvm.pid)
        status, headers, _ = server.ask("/prof?pid=%d&duration=600" % jvm.pid, method="HEAD")
        want((status, headers["allow"]) == (405, "GET"), "HEAD: %d" % status)
        want(server.status("/prof?pid=%d&duration=600&output=flat" % jvm.pid) == 202,
             "HEAD has begun something else")
        with subprocess.Popen(["curl", "-sfN", asked + "&wait"], stdout=subprocess.PIPE) as waiter:
            wait_for(lambda: connections(server.port) > 0, "curl to wait")
            server.end()
            text = waiter.stdout.read()
            want(waiter.wait(30) != 0, "curl took this for the whole: %r" % text[:80])


def stuck(scratch):
    """A stream of a JVM that does not answer may end: nobody else waits for that."""
    with Jvm("Shares") as jvm, Server(scratch) as server:
        path = "%sapi/v1/jvms/%d/events?event=" % (server.url, jvm.pid)
        readers = [subprocess.Popen(["curl", "-sN", path + event], stdout=subprocess.PIPE)
                   for event in ("cpu", "alloc")]
        for reader in readers:
            while not reader.stdout.readline().startswith(b"event: view"):
                pass
        os.kill(jvm.pid, signal.SIGSTOP)
        try:
            asker = subprocess.Popen(["curl", "-s", path.replace("events", "view") + "lock"],
                                     stdout=subprocess.DEVNULL)
            wait_for(lambda: connections(server.port) > len(readers), "the third client")
            for reader in readers:
                reader.kill()
                reader.wait()
            while asker.poll() is None:
                begun = time.monotonic()
                want(server.status("/healthz") == 200, "healthz")
                took = time.monotonic() - begun
                want(asker.poll() is not None or took < 4, "healthz took %.1f s" % took)
                time.sleep(0.2)
        finally:
            os.kill(jvm.pid, signal.SIGCONT)
        server.end()


def write(path, text, mode=0o600):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)
    return path


def refused(says, *args):
    r = prof("serve", *args)
    want(r.returncode == 1 and not r.stdout, "exit %d: %s" % (r.returncode, r.stderr))
    want(len(r.stderr.splitlines()) == 1 and re.search(says, r.stderr), "%s: %s" % (args, r.stderr))


def addresses(scratch):
    for where in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0"):
        refused("--token-file", "--listen", where)
    for where in ("nonsense", "::1:80", "[::1", "127.0.0.1:99999", "127.0.0.1:", ":", "", "a:1:2",
                  "127.0.0.1:80x", "-1"):
        refused("not an address and a port", "--listen=" + where)
    refused("names are not looked up", "--listen", "example.org:80")
    token = write(os.path.join(scratch, "token"), TOKEN + "\n")
    refused("not an address of this machine", "--listen", "192.0.2.1:0", "--token-file", token)
    for where, url in (("0", "http://127.0.0.1:"), (":0", "http://127.0.0.1:"),
                       ("localhost:0", "http://127.0.0.1:"), ("[::1]:0", "http://[::1]:")):
        with Server(scratch, "--listen", where) as server:
            want(server.url.startswith(url), server.url)
            server.end()


def taken(scratch):
    """The port's holder is named."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        refused(r"port %d of 127.0.0.1 is taken by process %d \(.*--listen"
                % (s.getsockname()[1], os.getpid()), "--listen",
                "127.0.0.1:%d" % s.getsockname()[1])
    # One that just ended does not keep it.
    with Server(scratch) as server:
        server.status("/healthz")
        where = "127.0.0.1:%d" % server.port
        server.end()
    with Server(scratch, "--listen", where) as server:
        want(server.status("/healthz") == 200, "the second one")


def token_files(scratch):
    bad = os.path.join(scratch, "bad-token")
    refused("No such file", "--token-file", bad)
    for text, mode, says in ((TOKEN, 0o644, "chmod 600"), (TOKEN, 0o620, "chmod 600"),
                             ("short\n", 0o600, "16 to 256 are required"),
                             ("", 0o600, "16 to 256"), ("a" * 257, 0o600, "16 to 256"),
                             ("with spaces in the middle", 0o600, "space")):
        refused(says, "--token-file", write(bad, text, mode))
    refused("not a regular file", "--token-file", scratch)
    if os.geteuid() == 0:
        write(bad, TOKEN)
        os.chown(bad, 12345, -1)
        refused("belongs to uid 12345", "--token-file", bad)


def with_token(scratch):
    token = write(os.path.join(scratch, "token"), TOKEN + "\nmore\n")
    with Server(scratch, "--listen", "0.0.0.0:0", "--token-file", token) as server:
        checks = Checks()
        for check in (bearer, cookies, guesses):
            checks.run("token: " + check.__name__, check, server)
        want(checks.failed == 0, "see above")
        server.end()


def bearer(server):
    check_status(server, 200, "/healthz")
    for path in ("/", "/metrics", "/api/v1/jvms", "/nothing", "/live/1", "/prof"):
        headers, text = check_status(server, 401, path)
        want(headers["www-authenticate"].startswith("Bearer"), headers)
        want(TOKEN not in text, text)
    check_status(server, 200, "/metrics", headers=BEARER)
    # Whatever name it is asked by: a browser does not send a token along.
    check_status(server, 200, "/metrics", headers=dict(BEARER, Host="prof.example:8071"))
    for wrong in ("Bearer " + TOKEN[:-1], "Bearer " + TOKEN + "0", "Bearer ", "Bearer",
                  "Basic " + TOKEN, TOKEN, "Bearer " + "x" * 5000):
        check_status(server, 401, "/metrics", headers={"Authorization": wrong})
    headers, text = check_status(server, 401, "/live/7?a=%22%3E", headers={"Accept": "text/html"})
    want('value="/live/7?a=%22%3E"' in text and "<form" in text, text)


def cookies(server):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for leads, to in (("/live/7?a=1", "/live/7?a=1"), ("//evil.example/", "/"),
                      ("/\\evil.example", "/"), ("http://evil.example/", "/"), ("/a%0d%0ab", "/"),
                      ("/login", "/")):
        headers, _ = check_status(server, 303, "/login", method="POST", headers=form,
                                  body="token=%s&next=%s" % (TOKEN, leads)) \
            if "%0d" not in leads else (None, None)
        if headers:
            want(headers["location"] == to, "%s: %s" % (leads, headers["location"]))
    cookie = headers["set-cookie"]
    want("HttpOnly" in cookie and "SameSite=Strict" in cookie and TOKEN not in cookie, cookie)
    name, value = re.match(r"([^=]+)=([0-9a-f]{64});", cookie).groups()
    check_status(server, 200, "/", headers={"Cookie": "%s=%s" % (name, value)})
    check_status(server, 200, "/", headers={"Cookie": "a=b; %s=%s; c=d" % (name, value)})
    for wrong in (value[:-1], value[:-1] + ("0" if value[-1] != "0" else "1"), "", "0" * 64):
        check_status(server, 401, "/", headers={"Cookie": "%s=%s" % (name, wrong)})
    _, text = check_status(server, 200, "/login?next=/live/3")
    want('value="/live/3"' in text, text)
    _, text = check_status(server, 401, "/login", method="POST", headers=form,
                           body="token=wrong&next=%22%3E%3Cscript%3E")
    want("token is wrong" in text and "<script>" not in text, text)
    check_status(server, 403, "/login", method="POST", body="token=" + TOKEN,
                 headers=dict(form, Origin="http://evil.example"))


def guesses(server):
    """After some wrong ones, none is looked at for a while; who logged in goes on."""
    wrong = {"Authorization": "Bearer wrong-wrong-wrong-wrong"}
    seen = [server.status("/metrics", headers=wrong) for _ in range(40)]
    want(set(seen) == {401, 429}, seen)
    headers, text = check_status(server, 429, "/metrics", headers=BEARER)
    want(int(headers["retry-after"]) > 0, text)
    wait_for(lambda: server.status("/metrics", headers=BEARER) == 200, "the right one to be seen")


def curl(server, path, *options):
    """(curl's exit code, HTTP status)"""
    done = subprocess.run(["curl", "-s", "-o", "/dev/null", "-m", "30", "-w", "%{http_code}",
                           *options, "%s%s" % (server.url.replace("localhost", "127.0.0.1"),
                                               path)],
                          stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode, int(done.stdout or 0)


def tls(scratch):
    authority(scratch, "ca")
    authority(scratch, "other-ca")
    cert, key = certificate(scratch, "server", "ca", "serverAuth")
    ca = os.path.join(scratch, "ca.pem")
    refused("must be given together", "--tls-cert", cert)
    refused("needs --tls-cert", "--tls-ca", ca)
    refused("is not the key of", "--tls-cert", cert, "--tls-key",
            os.path.join(scratch, "other-ca.key"))
    refused("No such file", "--tls-cert", cert + "x", "--tls-key", key)
    refused("--tls-cert", "--tls-cert", write(os.path.join(scratch, "no.pem"), "no"), "--tls-key",
            key)
    refused("no certificate in it", "--tls-cert", cert, "--tls-key", key, "--tls-ca", key)
    loose = write(os.path.join(scratch, "loose.key"), open(key, encoding="ascii").read(), 0o644)
    refused("chmod 600", "--tls-cert", cert, "--tls-key", loose)
    with Server(scratch, "--tls-cert", cert, "--tls-key", key) as server:
        want(server.url.startswith("https://"), server.url)
        want(curl(server, "healthz", "--cacert", ca) == (0, 200), "with its authority")
        want(curl(server, "healthz")[0] == 60, "without")
        want(curl(server, "healthz", "--cacert", ca, "--tls-max", "1.1")[0] != 0, "TLS 1.1")
        answer = server.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 15)
        want(b"200" not in answer, answer)
        want(curl(server, "healthz", "--cacert", ca) == (0, 200), "after that")
        server.end()


def client_certificates(scratch):
    cert, key = (os.path.join(scratch, "server." + kind) for kind in ("pem", "key"))
    ca = os.path.join(scratch, "ca.pem")
    good = certificate(scratch, "client", "ca", "clientAuth")
    foreign = certificate(scratch, "foreign", "other-ca", "clientAuth")
    wrong_use = certificate(scratch, "wrong-use", "ca", "serverAuth")
    options = ("--listen", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key, "--tls-ca", ca)

    def ask(server, pair, *more):
        shown = ("--cert", pair[0], "--key", pair[1]) if pair else ()
        return curl(server, "metrics", "--cacert", ca, *shown, *more)

    with Server(scratch, *options) as server:
        server.url = "https://127.0.0.1:%d/" % server.port
        want(ask(server, good) == (0, 200), "good: %s" % (ask(server, good),))
        want(ask(server, None) == (0, 403), "none: %s" % (ask(server, None),))
        for name, bad in (("foreign", foreign), ("wrong use", wrong_use)):
            want(ask(server, bad)[1] != 200, "%s: %s" % (name, ask(server, bad)))
        want(curl(server, "healthz", "--cacert", ca) == (0, 200), "healthz")
        server.end()
    token = write(os.path.join(scratch, "token"), TOKEN)
    with Server(scratch, *options, "--token-file", token) as server:
        server.url = "https://127.0.0.1:%d/" % server.port
        want(ask(server, good) == (0, 200), "either: the certificate")
        want(ask(server, None, "-H", "Authorization: Bearer " + TOKEN) == (0, 200), "the token")
        want(ask(server, None) == (0, 401), "neither")
        _, cookie = ask(server, None), subprocess.run(
            ["curl", "-s", "-D", "-", "--cacert", ca, "-d", "token=" + TOKEN,
             server.url + "login"], stdout=subprocess.PIPE, text=True, check=True).stdout
        want("; Secure" in cookie, cookie)
        server.end()


def ends(scratch):
    """By SIGTERM and SIGINT, with connections and a profile open; the JVM goes on."""
    with Jvm("Shares") as jvm:
        for number in (signal.SIGTERM, signal.SIGINT):
            with Server(scratch) as server:
                idle = socket.create_connection(("127.0.0.1", server.port))
                half = socket.create_connection(("127.0.0.1", server.port))
                half.sendall(b"GET / HT")
                want(server.status("/api/v1/jvms/%d/view" % jvm.pid) == 200, "a view")
                began = time.monotonic()
                server.process.send_signal(number)
                want(server.process.wait(30) == 0, "exit %d" % server.process.returncode)
                want(time.monotonic() - began < 15, "it took %.1f s" % (time.monotonic() - began))
                idle.close()
                half.close()
            want(jvm.alive(), "the JVM is dead")


def all_jvms(scratch):
    """Held from the beginning; new ones within some seconds; ended ones not any more."""
    def held(server):
        return {j["pid"] for j in json.loads(server.ask("/api/v1/jvms")[2]) if j["held"]}
    with Jvm("Shares") as first, Server(scratch, "--all-jvms") as server:
        wait_for(lambda: first.pid in held(server), "the first to be held")
        with Jvm("Shares") as second:
            wait_for(lambda: second.pid in held(server), "the second to be held")
            wait_for(lambda: '"%d"' % second.pid in server.ask("/metrics")[2], "its metrics")
        wait_for(lambda: second.pid not in held(server), "the second to be let go of")
        want(first.pid in held(server), "the first")
        server.end()
        want(first.alive(), "the JVM is dead")


def quiet(scratch):
    with Prof(scratch, "serve", "-q", "--listen", "127.0.0.1:0") as p:
        wait_for(lambda: any("socket" in target for _, target in links(p.pid)), "a socket")
        p.process.terminate()
        want(p.process.wait(30) == 0 and not p.stderr() and not p.stdout(), p.stderr())


def main():
    checks = Checks(fast=("addresses", "token_files", "with_token", "tls", "follow", "ends",
                          "all_jvms", "quiet"))
    with tempfile.TemporaryDirectory() as scratch:
        for check in (plain, addresses, taken, token_files, with_token, tls, client_certificates,
                      follow, waits, stuck, ends, all_jvms, quiet):
            checks.run(check.__name__, check, scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
