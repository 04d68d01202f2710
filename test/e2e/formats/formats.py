#!/usr/bin/env python3
# timeout: 240, tier: fast
"""What programs read in our files is what our own collapsed stacks say: JSON, OTLP as decoded by
the published schema, Markdown, the call tree. One recording of several events, as each format."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

from lib import Checks, Jvm, good, want

EVENTS = ["cpu", "wall", "alloc", "lock"]

# What is published as opentelemetry/proto/{profiles/v1development/profiles,common/v1/common,
# resource/v1/resource}.proto of release 1.10, fields and numbers; no reader of it is packaged.
OTLP = """
syntax = "proto3";
package otlp;
message ProfilesData {
    repeated ResourceProfiles resource_profiles = 1;
    ProfilesDictionary dictionary = 2;
}
message ProfilesDictionary {
    repeated Mapping mapping_table = 1;
    repeated Location location_table = 2;
    repeated Function function_table = 3;
    repeated Link link_table = 4;
    repeated string string_table = 5;
    repeated KeyValueAndUnit attribute_table = 6;
    repeated Stack stack_table = 7;
}
message ResourceProfiles {
    Resource resource = 1; repeated ScopeProfiles scope_profiles = 2; string schema_url = 3;
}
message Resource { repeated KeyValue attributes = 1; uint32 dropped_attributes_count = 2; }
message ScopeProfiles {
    InstrumentationScope scope = 1; repeated Profile profiles = 2; string schema_url = 3;
}
message InstrumentationScope { string name = 1; string version = 2; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
    oneof value {
        string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
        bytes bytes_value = 7;
    }
}
message Profile {
    ValueType sample_type = 1;
    repeated Sample samples = 2;
    fixed64 time_unix_nano = 3;
    uint64 duration_nano = 4;
    ValueType period_type = 5;
    int64 period = 6;
    bytes profile_id = 7;
    uint32 dropped_attributes_count = 8;
    string original_payload_format = 9;
    bytes original_payload = 10;
    repeated int32 attribute_indices = 11;
}
message Link { bytes trace_id = 1; bytes span_id = 2; }
message ValueType { int32 type_strindex = 1; int32 unit_strindex = 2; }
message Sample {
    int32 stack_index = 1;
    repeated int32 attribute_indices = 2;
    int32 link_index = 3;
    repeated int64 values = 4;
    repeated fixed64 timestamps_unix_nano = 5;
}
message Mapping {
    uint64 memory_start = 1; uint64 memory_limit = 2; uint64 file_offset = 3;
    int32 filename_strindex = 4; repeated int32 attribute_indices = 5;
}
message Stack { repeated int32 location_indices = 1; }
message Location {
    int32 mapping_index = 1; uint64 address = 2; repeated Line lines = 3;
    repeated int32 attribute_indices = 4;
}
message Line { int32 function_index = 1; int64 line = 2; int64 column = 3; }
message Function {
    int32 name_strindex = 1; int32 system_name_strindex = 2; int32 filename_strindex = 3;
    int64 start_line = 4;
}
message KeyValueAndUnit { int32 key_strindex = 1; AnyValue value = 2; int32 unit_strindex = 3; }
"""


def plain(name):
    """Collapsed names have slashes and say what is a class; the others have dots and do not."""
    return re.sub(r"_\[i\]$", "", name).replace("/", ".")


class Recording:
    def __init__(self, scratch):
        self.scratch = scratch
        self.path = os.path.join(scratch, "all.jtop")
        with Jvm("shop.Demo", options=["-XX:+EnableDynamicAgentLoading"]) as jvm:
            good("-d", 4, "-i", "2ms", "--wall", "20ms", "--alloc", "64k", "--lock", "1us",
                 "-e", ",".join(EVENTS), "--record", self.path, "-o", "flat", jvm.pid)
            self.pid = jvm.pid

    def stacks(self, event, *options):
        """Of collapsed output: how often each stack, root first."""
        stacks = collections.Counter()
        for line in good("-e", event, "-o", "collapsed", *options, self.path).splitlines():
            stack, n = line.rsplit(" ", 1)
            stacks[tuple(map(plain, stack.split(";")))] += int(n)
        return stacks

    def file(self, name, *options):
        path = os.path.join(self.scratch, name)
        good("-f", path, *options, self.path)
        return path


def same(got, told, what):
    want(told and got == told, "%s: %d stacks, %d in the collapsed; not the same: %s" %
         (what, len(got), len(told), list((got - told).items())[:1] +
          list((told - got).items())[:1]))


# ---- JSON ----

def json_says_the_same(recording):
    with open(recording.file("all.json"), encoding="utf-8") as f:
        all_of_it = json.load(f)
    want(all_of_it["format"] == "jtop-prof" and all_of_it["schema"] == 1, "what format is it?")
    want(all_of_it["pid"] == recording.pid and "shop.Demo" in all_of_it["jvm"], "of what JVM?")
    names = all_of_it["strings"]
    want(len(set(names)) == len(names), "names are there twice")
    want([e["event"] for e in all_of_it["events"]] == EVENTS, "events are missing")
    for event in all_of_it["events"]:
        what = event["event"]
        for column, option in ((0, "--samples"), (1, "--total")):
            got = collections.Counter()
            for stack in event["stacks"]:
                if stack[column]:
                    got[tuple(plain(names[i]) for i in stack[2])] += stack[column]
            same(got, recording.stacks(what, option), what + " " + option)
        for rows in ("methods", "threads"):
            for key, column in (("samples", 0), ("weight", 1)):
                field = {"samples": "self_samples", "weight": "self"}[key] \
                    if rows == "methods" else key
                want(sum(r[field] for r in event[rows]) == event[key] ==
                     sum(s[column] for s in event["stacks"]),
                     "%s: %s of %s do not add up" % (what, key, rows))
    cpu = all_of_it["events"][0]
    java = [m for m in cpu["methods"] if m["kind"] == "java"]
    want(java and all(sum(m["tiers"].values()) <= m["total_samples"] for m in java), "no tiers")
    want(cpu["unit"] == "ns" and cpu["interval"] == 2000000 and cpu["elapsed_ns"] > 3e9,
         "how was it measured?")


# ---- OTLP ----

def text_format(lines):
    """Of protoc --decode: {field: [values]}, messages as such."""
    message = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            return message
        if line.endswith("{"):
            message[line[:-1].strip()].append(text_format(lines))
        else:
            field, value = line.split(": ", 1)
            message[field].append(json.loads('"%s"' % value[1:-1].replace(r"\'", "'"))
                                  if value[0] == '"' else int(value))
    return message


def decode(path, scratch):
    proto = os.path.join(scratch, "otlp.proto")
    with open(proto, "w", encoding="ascii") as f:
        f.write(OTLP)
    with open(path, "rb") as f:
        done = subprocess.run(["protoc-c", "--proto_path=" + scratch, "--decode=otlp.ProfilesData",
                               proto], stdin=f, capture_output=True, text=True, timeout=100,
                              check=False)
    want(done.returncode == 0, "protoc: " + done.stderr[-300:])
    unknown = re.search(r"^ *\d+: .*|^ *\d+ \{", done.stdout, re.M)
    want(not unknown, "a field that the schema has not: %s" % (unknown and unknown.group()))
    return text_format(iter(done.stdout.splitlines()))


def one(message, field, default=0):
    return message[field][0] if message[field] else default


def otlp_says_the_same(recording):
    data = decode(recording.file("all.otlp"), recording.scratch)
    d = data["dictionary"][0]
    strings = d["string_table"]
    for table in ("mapping", "location", "function", "link", "attribute", "stack"):
        want(not any(d[table + "_table"][0].values()), "the first %s is something" % table)
    want(strings[0] == "" and len(set(strings)) == len(strings), "strings are there twice")
    functions = [strings[one(f, "name_strindex")] for f in d["function_table"]]
    locations = [functions[one(l["lines"][0], "function_index")] if l["lines"] else ""
                 for l in d["location_table"]]
    stacks = [tuple(plain(locations[i]) for i in reversed(s["location_indices"]))
              for s in d["stack_table"]]
    want(len(data["resource_profiles"]) == 1, "more than one resource")
    resource = data["resource_profiles"][0]
    about = {one(a, "key"): a["value"][0] for a in resource["resource"][0]["attributes"]}
    want("shop.Demo" in one(about["service.name"], "string_value") and
         one(about["process.pid"], "int_value") == recording.pid, "of what JVM?")
    profiles = resource["scope_profiles"][0]["profiles"]
    want(len(profiles) == 2 * len(EVENTS), "%d profiles" % len(profiles))
    for profile, event, option in zip(profiles, [e for e in EVENTS for _ in "12"],
                                      ["--total", "--samples"] * len(EVENTS)):
        kind = strings[one(profile["sample_type"][0], "type_strindex")]
        want(kind == (event if option == "--total" else "samples"), "a profile of " + kind)
        got = collections.Counter()
        for sample in profile["samples"]:
            got[stacks[one(sample, "stack_index")]] += sum(sample["values"])
        same(+got, recording.stacks(event, option), event + " " + option)
    threads_and_lines(d, profiles[0])


def threads_and_lines(d, profile):
    attributes = [(d["string_table"][one(a, "key_strindex")],
                   one(one(a, "value", collections.defaultdict(list)), "string_value", ""))
                  for a in d["attribute_table"]]
    threads = {attributes[i] for s in profile["samples"] for i in s["attribute_indices"]}
    want(("thread.name", "order-worker-1") in threads, "threads are %s" % sorted(threads)[:5])
    kinds = {attributes[i] for l in d["location_table"] for i in l["attribute_indices"]}
    want({("profile.frame.type", "jvm"), ("jtop_prof.frame.tier", "c2")} <= kinds, "no kinds of frames")
    lined = sum(one(l["lines"][0], "line") > 0 for l in d["location_table"][1:])
    want(lined > len(d["location_table"]) / 4, "frames have no lines")


# ---- Markdown, call tree ----

def markdown_is_tables(recording):
    with open(recording.file("all.md"), encoding="utf-8") as f:
        text = f.read()
    heads = re.findall(r"^## (.*)$", text, re.M)
    want(heads == ["CPU profile", "Wall clock profile", "Allocation profile", "Lock profile"],
         "headings are %s" % heads)
    want(text.count("dropped") >= 4 and "```text\n" in text, "no quality, or no paths")
    want(text.count("```") % 2 == 0, "a block of code does not end")
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        columns = {len(re.findall(r"(?<!\\)\|", row)) for row in block.splitlines()}
        want(len(columns) == 1, "rows of %s columns: %s" % (columns, block[:200]))
    alloc = text.split("## ")[3]
    want("| Class |" in alloc and "`byte[]`" in alloc, "no classes: " + alloc[:300])
    # What allocates counts as the self of the method that does.
    want(re.search(r"\| Method \|\n[|:-]+\n\| +[1-9]", alloc), "no method allocates")
    flat = good("-e", "cpu", "-o", "flat=1", recording.path).splitlines()[-1].split(None, 3)
    want("`%s`" % flat[3] in text.split("## ")[1], "the hottest method is missing")


def tree_is_what_o_says(recording):
    """An .html is a flame graph, but with -o tree."""
    for options, has in (((), "flameGraph"), (("-o", "tree"), "callTree")):
        with open(recording.file("x.html", "-e", "cpu", *options), encoding="utf-8") as f:
            page = f.read()
        want("window.%s =" % has in page, "%s: it is something else" % (options,))
    with open(recording.file("back.html", "-e", "cpu", "-o", "tree", "--reverse"),
              encoding="utf-8") as f:
        want("from the leaf to its callers" in f.read(), "--reverse goes unnoticed")
    want("http" not in re.sub(r"<script type.*?</script>", "", page, flags=re.S),
         "it refers to something")


def stacks_of_lines(page):
    """What a program reads that knows async-profiler's pages: names that begin as the one before,
    and frames with their level."""
    names, frames, last = ["all"], [], ""
    lines = iter(page.splitlines())
    while not next(lines).startswith("const cpool"):
        pass
    next(lines)
    for line in lines:
        if not line.startswith("'"):
            break
        packed = re.sub(r"\\(['\\])", r"\1", line[1:line.rindex("'")])
        last = last[:ord(packed[0]) - 32] + packed[1:]
        names.append(last)
    while next(lines):
        pass
    level = count = 0
    for line in lines:
        if not line:
            break
        numbers = [int(n) for n in line[2:-1].split(",")]
        level = {"f": numbers[1], "u": level + 1, "n": level}[line[0]]
        frames.append((level, names[numbers[0] >> 3], numbers[-1]))
    stacks, path = collections.Counter(), []
    for i, (level, name, count) in enumerate(frames):
        path[level:] = [name]
        inside = 0
        for deeper, _, n in frames[i + 1:]:
            if deeper <= level:
                break
            inside += n if deeper == level + 1 else 0
        if level and count > inside:
            stacks[tuple(path[1:])] += count - inside
    depth = max(f[0] for f in frames) + 1
    want("Array(%d)" % depth in page, "the number of levels is another than %d" % depth)
    return stacks


def html_has_lines(recording):
    for event in ("cpu", "alloc"):
        with open(recording.file("lines.html", "-e", event), encoding="utf-8") as f:
            got = stacks_of_lines(f.read())
        told = collections.Counter()
        for stack, n in recording.stacks(event).items():
            told[tuple(re.sub(r"_\[[k01ji]\]$", "", f) for f in stack)] += n
        same(collections.Counter({tuple(map(plain, s)): n for s, n in got.items()}), told,
             "html, " + event)


def main():
    check = Checks()
    with tempfile.TemporaryDirectory(prefix="jtop-prof-formats-") as scratch:
        recording = Recording(scratch)
        check.run("json: the collapsed stacks", json_says_the_same, recording)
        check.run("otlp: the collapsed stacks", otlp_says_the_same, recording)
        check.run("markdown: tables", markdown_is_tables, recording)
        check.run("tree: with -o", tree_is_what_o_says, recording)
        check.run("html: async-profiler's lines", html_has_lines, recording)
    return check.code()


if __name__ == "__main__":
    sys.exit(main())
