#!/usr/bin/env python3
# timeout: 180
"""What Parca and Pyroscope are sent, of several events of a JVM: Parca's WriteRaw is read with the
definition that its own project publishes, the profiles in it with Go's pprof."""
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import email

import otlp_official
from lib import Checks, Jvm, Prof, wait_for, want
from push_receiver import Receiver

PARCA = "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw"
# The messages of parca/profilestore/v1alpha1/profilestore.proto: numbers and types are its own.
PROTO = """syntax = "proto3";
package parca.profilestore.v1alpha1;
message WriteRawRequest { string tenant = 1; repeated RawProfileSeries series = 2;
    bool normalized = 3; }
message RawProfileSeries { LabelSet labels = 1; repeated RawSample samples = 2; }
message Label { string name = 1; string value = 2; }
message LabelSet { repeated Label labels = 1; }
message RawSample { bytes raw_profile = 1; }
"""
LABEL = r"^[a-zA-Z_][a-zA-Z0-9_]*$"


def parca_module(scratch):
    otlp_official.module()  # brings Python's protobuf
    with open(os.path.join(scratch, "profilestore.proto"), "w", encoding="ascii") as f:
        f.write(PROTO)
    subprocess.run(["protoc", "-I" + scratch, "--python_out=" + scratch,
                    os.path.join(scratch, "profilestore.proto")], check=True)
    sys.path.insert(0, scratch)
    return __import__("profilestore_pb2")


class Pprof:
    """A profile as Go's pprof reads it."""

    def __init__(self, scratch, data):
        path = os.path.join(scratch, "x.pb.gz")
        with open(path, "wb") as f:
            f.write(data)
        done = subprocess.run(["go", "tool", "pprof", "-symbolize=none", "-raw", path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        want(done.returncode == 0, "pprof: " + done.stderr)
        self.text = done.stdout
        self.types = re.search(r"^Samples:\n(.*)$", self.text, re.M)[1].split()
        rows = self.text.split("Samples:\n", 1)[1].split("\nLocations\n")[0]
        found = re.findall(r"^ +(\d+) +(\d+): ", rows, re.M)
        self.samples, self.weight = (sum(int(f[i]) for f in found) for i in (0, 1))
        self.labelled = "thread:[" in rows
        self.duration = float(re.search(r"^Duration: ([\d.]+)", self.text, re.M)[1])


def push(scratch, receiver, protocol, jvm, *args):
    """Some windows of CPU time and of allocation."""
    with Prof(scratch, "push", "--to", receiver.url(), "--protocol", protocol, "--every", "1s",
              "-e", "cpu,alloc", "-i", "2ms", "--alloc", "64k", "--label", "we.ird=a,b}c", *args,
              jvm.pid) as p:
        # It allocates as long as it is asked to: no window is without samples.
        wait_for(lambda: jvm.ask("run 1 100000 10") and len(receiver.posts()) >= 8,
                 "some windows", 90)
        p.process.send_signal(signal.SIGTERM)
        wait_for(lambda: p.process.poll() is not None, "push to end", 60)
        want(p.process.returncode == 0 and "0 refused, 0 lost" in p.stderr(), p.stderr())
    return receiver.posts()


def check_kinds(found):
    """`found`: profiles by their metric's name."""
    want(found.get("cpu"), "no CPU profile: %s" % list(found))
    for p in found["cpu"]:
        want(p.types == ["samples/count", "cpu/nanoseconds[dflt]"], "types: %s" % p.types)
        want(p.samples and p.weight, "nothing in it")
        want(p.duration >= 1 and p.duration == int(p.duration), "of %g s" % p.duration)
        want("AllocShares" in p.text, "no frames of the workload")


def parca(scratch, module, jvm):
    with Receiver(os.path.join(scratch, "parca")) as receiver:
        posts = push(scratch, receiver, "parca", jvm)
    found = {}
    for post in posts:
        want(post.path == PARCA and post.headers["content-type"] == "application/grpc-web+proto",
             "%s %s" % (post.path, post.headers))
        flags, length = struct.unpack(">BI", post.body[:5])
        want(flags == 0 and length == len(post.body) - 5, "the frame says %d of %d" % (
            length, len(post.body)))
        request = module.WriteRawRequest.FromString(post.body[5:])
        want(not otlp_official.unknown(request) and request.series, "not all of it is WriteRaw's")
        for series in request.series:
            names = [label.name for label in series.labels.labels]
            values = {label.name: label.value for label in series.labels.labels}
            want(names == sorted(set(names)), "labels: %s" % names)
            want(all(re.match(LABEL, n) for n in names), "labels: %s" % names)
            want(values["service_name"] == "AllocShares" and values["we_ird"] == "a,b}c" and
                 values["pid"] == str(jvm.pid), "labels: %s" % values)
            kind = {"process_cpu": "cpu"}.get(values["__name__"], values["__name__"])
            found.setdefault(kind, []).extend(Pprof(scratch, s.raw_profile) for s in series.samples)
    check_kinds(found)
    want(all(p.labelled for p in found["cpu"]), "samples do not say their thread")
    want(found["memory"][0].types[1].startswith("alloc/bytes"), found["memory"][0].types)


def form(post):
    """The files of a form, as Python's own reader of MIME has them: {name: bytes}."""
    head = "Content-Type: %s\r\n\r\n" % post.headers["content-type"]
    message = email.message_from_bytes(head.encode() + post.body)
    want(message.is_multipart(), "no form")
    return {part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
            for part in message.get_payload() if part.get_filename()}


def pyroscope(scratch, jvm):
    with Receiver(os.path.join(scratch, "pyroscope")) as receiver:
        posts = push(scratch, receiver, "pyroscope", jvm)
    found, ends = {}, {}
    for post in posts:
        want(post.path == "/ingest" and post.query["format"] == "pprof", post.path)
        name = re.fullmatch(r"AllocShares\{(.*)\}", post.query["name"])
        want(name, "name: " + post.query["name"])
        labels = dict(pair.split("=") for pair in name[1].split(","))
        want(labels["we_ird"] == "a_b_c" and labels["pid"] == str(jvm.pid), str(labels))
        files = form(post)
        p = Pprof(scratch, files["profile"])
        kind = p.types[1].split("/")[0]
        config = json.loads(files["sample_type_config"])
        want(set(config) == {"samples", kind}, "%s of %s" % (config, p.types))
        want(config[kind]["units"] == p.types[1].split("/")[1].split("[")[0], str(config))
        want(ends.get(kind, post.query["from"]) == post.query["from"], "a gap in " + kind)
        ends[kind] = post.query["until"]
        want(not p.labelled, "a series a thread")
        found.setdefault(kind, []).append(p)
    check_kinds(found)
    want("alloc_space" in found, "kinds: %s" % list(found))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="jtop-parca-") as scratch:
        module = parca_module(scratch)
        with Jvm("AllocShares") as jvm:
            checks.run("Parca: WriteRaw, CPU and memory", parca, scratch, module, jvm)
            checks.run("Pyroscope: forms, CPU and memory", pyroscope, scratch, jvm)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
