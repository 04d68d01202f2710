#!/usr/bin/env python3
# timeout: 180, runs: alone
"""What was taken out of the ring is in the recording, whoever is killed and when.

KILLS (12) times the JVM, the profiler, or both are killed with -9 at a random moment of a recording.
The script holds the ring's memory, which outlives both, and compares what the reader took out of it
with what is in the file. SEED repeats a run.
"""
import os
import random
import signal
import struct
import sys
import tempfile
import time

from lib import (Checks, Jvm, Prof, collapsed, good, links, occurrences, records, sampling,
                 total, wait_for, want)

KILLS = int(os.environ.get("KILLS", "12"))
SEED = int(os.environ.get("SEED", str(time.time_ns() % 1000000)))

# core/wire/layout.h
RING_BYTES, SAMPLES, HEAD, TAIL, WIPING, RING = 16, 16056, 16448, 16512, 16520, 20480
# core/wire/record.h
SAMPLE, FIRST_OF_READERS, BUSY = 2, 64, 1 << 63


def in_file(path):
    """Samples, the occurrences they stand for, and bytes of records that came from the ring."""
    found = [(kind, len(r), occurrences(r) if kind == SAMPLE else 0) for kind, r in records(path)]
    return (sum(1 for kind, _, _ in found if kind == SAMPLE), sum(times for _, _, times in found),
            sum(length for kind, length, _ in found if kind < FIRST_OF_READERS))


class Ring:
    """The agent's memory, held open."""

    def __init__(self, pid):
        for path, target in links(pid):
            if "/memfd:jtop-prof" in target:
                self.fd = os.open(path, os.O_RDONLY)
                return
        want(False, "no ring in %d" % pid)

    def word(self, offset):
        return struct.unpack("<Q", os.pread(self.fd, 8, offset))[0]

    def committed(self):
        """By the agent's count: after each sample."""
        return self.word(SAMPLES)

    def consumed(self):
        """The reader's position: up to there the ring has nothing any more."""
        tail, wiping = self.word(TAIL), self.word(WIPING)
        return wiping if tail < wiping <= self.word(HEAD) else tail

    def left(self):
        """Samples that are committed and not consumed."""
        size, at, head, found = self.word(RING_BYTES), self.consumed(), self.word(HEAD), 0
        while at < head:
            word = self.word(RING + at % size)
            found += word >> 32 & 0xffff == SAMPLE and not word & BUSY
            at += word & 0xffffffff or 8  # room that a writer has taken, and not begun to fill
        return found

    def close(self):
        os.close(self.fd)


def check(ring, path, reader_lives, jvm_lives):
    samples, times, size = in_file(path)
    committed, left = ring.committed(), ring.left()
    want(0 < ring.word(HEAD) >= ring.consumed(), "that is not the ring: nothing is in it")
    want(samples + left >= committed, "%d in the file and %d in the ring, of %d" %
         (samples, left, committed))
    if jvm_lives:  # else what was abandoned half-way has been skipped
        want(size >= ring.consumed(), "%d bytes of %d that were consumed" %
             (size, ring.consumed()))
    if reader_lives:
        want(left == 0 and ring.consumed() == ring.word(HEAD), "%d are left" % left)
    replayed = total(collapsed(good("-o", "collapsed", "--samples", path)))
    want(replayed == times, "%d samples, %d replayed" % (times, replayed))
    return samples


def kill(scratch, number, moment, who, gap):
    path = os.path.join(scratch, "%d.jtop" % number)
    with Jvm("Shares", "threads", cwd=scratch) as jvm, \
            Prof(scratch, "-d", 60, "-i", "200us", "--record", path, "-o", "flat=1",
                 jvm.pid) as reader:
        wait_for(lambda: sampling(jvm.pid), "sampling")
        ring = Ring(jvm.pid)
        time.sleep(moment)
        if who != "JVM":
            reader.process.kill()
            reader.process.wait()
            time.sleep(gap)
        if who == "profiler":
            os.kill(jvm.pid, signal.SIGSTOP)  # it goes on filling the ring; now it stands still
        else:
            jvm.kill()
        if who == "JVM":
            want(reader.process.wait(30) == 0, reader.stderr())
        samples = check(ring, path, who == "JVM", who == "profiler")
        ring.close()
        if who == "profiler":
            os.kill(jvm.pid, signal.SIGCONT)
    os.unlink(path)
    return samples


def kills(scratch, who, numbers):
    chance = random.Random(SEED * 1000 + numbers[0])
    samples = sum(kill(scratch, n, chance.uniform(0, 1.5), who, chance.choice((0, 0.02, 0.3)))
                  for n in numbers)
    want(samples > len(numbers), "only %d samples" % samples)


def main():
    checks = Checks()
    print("# SEED=%d" % SEED)
    with tempfile.TemporaryDirectory() as scratch:
        for i, who in enumerate(("profiler", "JVM", "both")):
            checks.run("%s killed, %d times" % (who, len(range(i, KILLS, 3))), kills, scratch, who,
                       range(i, KILLS, 3))
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
