"""OTLP's messages as their own project defines them: from the distribution's opentelemetry-proto,
compiled by protoc for Python's protobuf. Made once a build directory, in BUILD/otlp.

    request = otlp_official.request(body)      # an ExportProfilesServiceRequest
    for sample in otlp_official.samples(request): …
"""
import fcntl
import glob
import importlib
import os
import subprocess
import sys

from lib import BUILD, ROOT, want

PLACE = os.path.join(BUILD, "otlp")
COLLECTOR = "opentelemetry/proto/collector/profiles/v1development/profiles_service"
# None of the C parts: they are of one version of Python.
os.environ.setdefault("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    want(done.returncode == 0, "%s: %s" % (command[0], done.stdout[-400:]))
    return done.stdout


def unpack(suite, package):
    run(os.path.join(ROOT, ".ci", "unpack"), PLACE, run("dpkg", "--print-architecture").strip(),
        suite, package)


def suite():
    with open("/etc/os-release", encoding="utf-8") as f:
        return next(line.split("=", 1)[1].strip().strip('"') for line in f
                    if line.startswith("VERSION_CODENAME="))


def make():
    """The directory of the compiled definitions."""
    compiled = os.path.join(PLACE, "python")
    os.makedirs(PLACE, exist_ok=True)
    with open(os.path.join(PLACE, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(os.path.join(compiled, "done")):
            unpack("sid", "opentelemetry-proto")
            unpack(suite(), "python3-protobuf")  # goes with the machine's protoc
            include = os.path.join(PLACE, "usr", "include")
            os.makedirs(compiled, exist_ok=True)
            run("protoc", "-I" + include, "--python_out=" + compiled,
                *glob.glob(os.path.join(include, "opentelemetry", "**", "*.proto"), recursive=True))
            with open(os.path.join(compiled, "done"), "w", encoding="ascii"):
                pass
    return compiled


def module():
    for path in (os.path.join(PLACE, "usr/lib/python3/dist-packages"), make()):
        if path not in sys.path:
            sys.path.insert(0, path)
    return importlib.import_module(COLLECTOR.replace("/", ".") + "_pb2")


def request(body):
    r = module().ExportProfilesServiceRequest()
    r.ParseFromString(body)  # an exception where it is none
    return r


def attributes(resource):
    """Of a Resource: {name: value}."""
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in resource.attributes}


def profiles(r):
    """[(resource's attributes, profile)]"""
    return [(attributes(rp.resource), p) for rp in r.resource_profiles
            for sp in rp.scope_profiles for p in sp.profiles]


def kind(r, profile):
    """("cpu", "nanoseconds")"""
    text = r.dictionary.string_table
    return (text[profile.sample_type.type_strindex], text[profile.sample_type.unit_strindex])


def stack(r, sample):
    """Names of functions, leaf first."""
    d = r.dictionary
    return [d.string_table[d.function_table[line.function_index].name_strindex]
            for at in d.stack_table[sample.stack_index].location_indices
            for line in d.location_table[at].lines]


def unknown(message):
    """Whether anything in it is not in the definitions."""
    if len(getattr(message, "UnknownFields", lambda: ())()):
        return True
    return any(unknown(m) for f, v in message.ListFields() if f.message_type
               for m in (v if f.label == f.LABEL_REPEATED else [v]))
