"""A receiver of profiles: keeps what it is sent, each in a file of its own, and answers as an
engine would. A program, so that it can be killed; and for who started it, what it has kept.

    push_receiver.py DIRECTORY [PORT]      prints its port; ends with its input
"""
import gzip
import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.parse

# gRPC-Web: an empty WriteRawResponse, and a trailer.
GRPC_OK = b"\0\0\0\0\0" + b"\x80\0\0\0\x0f" + b"grpc-status:0\r\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    place, lock, count = "", threading.Lock(), 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        said = {"path": self.path, "headers": dict(self.headers.items())}
        with Handler.lock:
            Handler.count += 1
            name = os.path.join(Handler.place, "%d-%06d" % (os.getpid(), Handler.count))
            with open(name + ".tmp", "wb") as f:
                f.write(json.dumps(said).encode() + b"\n" + body)
            os.rename(name + ".tmp", name + ".post")
        grpc = self.headers["Content-Type"].startswith("application/grpc")
        answer = GRPC_OK if grpc else b""
        self.send_response(200)
        self.send_header("Content-Type", self.headers["Content-Type"])
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass


class Post:
    """What was sent at one time."""

    def __init__(self, path):
        with open(path, "rb") as f:
            said, self.body = f.read().split(b"\n", 1)
        said = json.loads(said)
        self.headers = {k.lower(): v for k, v in said["headers"].items()}
        self.path, _, query = said["path"].partition("?")
        self.query = {k: v[0] for k, v in urllib.parse.parse_qs(query).items()}


class Receiver:
    """The program, started and killed by a test."""

    def __init__(self, place):
        self.place, self.port, self.process = place, 0, None
        os.makedirs(place, exist_ok=True)
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), self.place, str(self.port)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def url(self, path=""):
        return "http://127.0.0.1:%d%s" % (self.port, path)

    def posts(self):
        """All of them, in the order they came in."""
        files = [os.path.join(self.place, n) for n in os.listdir(self.place) if n.endswith(".post")]
        return [Post(f) for f in sorted(files, key=lambda f: os.stat(f).st_mtime_ns)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()


def main():
    Handler.place = sys.argv[1]
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    http.server.ThreadingHTTPServer.allow_reuse_address = True
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(server.server_address[1], flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
