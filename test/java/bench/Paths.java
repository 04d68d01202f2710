package bench;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that call along many distinct paths and count what they do: a unit is one path, with some
 * work at its end.
 *
 *   java bench.Paths THREADS PATHS FROM TO ROUNDS [PAUSE]
 *
 * The paths have FROM to TO frames; ROUNDS is the work at the end of each. After 100 units a thread
 * sleeps for about PAUSE ms. stdin: "tell" prints "units N CPU-NS TIME-NS" (of all threads;
 * System.nanoTime), then "."; "once" calls along every path once, at most 10,000 a second, on a
 * thread of its own, and prints "at N" now and then, "." at the end; end of input ends it.
 */
public final class Paths {
    static final ThreadMXBean CLOCKS = ManagementFactory.getThreadMXBean();
    static final long WARM_NS = 3000000000L; // until the paths are compiled
    static volatile long sink;
    static AtomicLongArray units; // a slot in each cache line
    static int paths, from, to, rounds, pause;

    static long leaf(long x) {
        for (int i = 0; i < rounds; i++) {
            x = Walk.mix(x);
        }
        return x;
    }

    /** Calls on until `more` frames stand; the upper bits of `way` say by which method. */
    static long go(int more, int i, long way, long x) {
        if (more <= 1) {
            return leaf(x);
        }
        switch ((int) (way >>> 61)) {
            case 0: return a(more - 1, i, way, x);
            case 1: return b(more - 1, i, way, x);
            case 2: return c(more - 1, i, way, x);
            case 3: return d(more - 1, i, way, x);
            case 4: return e(more - 1, i, way, x);
            case 5: return f(more - 1, i, way, x);
            case 6: return g(more - 1, i, way, x);
            default: return h(more - 1, i, way, x);
        }
    }

    static long a(int more, int i, long way, long x) {
        return more <= 1 ? leaf(x) : go(more - 1, i, next(more, i, way), x) + 1;
    }

    static long b(int more, int i, long way, long x) {
        return more <= 1 ? leaf(x) : go(more - 1, i, next(more, i, way), x) + 2;
    }

    static long c(int more, int i, long way, long x) {
        return more <= 1 ? leaf(x) : go(more - 1, i, next(more, i, way), x) + 3;
    }

    static long d(int more, int i, long way, long x) {
        return more <= 1 ? leaf(x) : go(more - 1, i, next(more, i, way), x) + 4;
    }

    static long e(int more, int i, long way, long x) {
        return more <= 1 ? leaf(x) : go(more - 1, i, next(more, i, way), x) + 5;
    }

    static long f(int more, int i, long way, long x) {
        return more <= 1 ? leaf(x) : go(more - 1, i, next(more, i, way), x) + 6;
    }

    static long g(int more, int i, long way, long x) {
        return more <= 1 ? leaf(x) : go(more - 1, i, next(more, i, way), x) + 7;
    }

    static long h(int more, int i, long way, long x) {
        return more <= 1 ? leaf(x) : go(more - 1, i, next(more, i, way), x) + 8;
    }

    /** The last frames, a third of FROM, are a path's own; those before are one of 40 ways. */
    static long next(int more, int i, long way) {
        return (way + (more > from / 3 ? i % 40 : i)) * 0xD1342543DE82EF95L + 0x9E3779B97F4A7C15L;
    }

    /** The path of this number; its own frame is not counted. */
    static long path(int i, long x) {
        return go(from + i % (to - from + 1), i, 0, x);
    }

    /** Between 0 and twice the pause, so that threads that were stopped together part again. */
    static long nap(int number, long done) {
        return ((number * 31L + done) * 0x9E3779B97F4A7C15L >>> 33) % (2L * pause);
    }

    static void run(int number, int begin, CountDownLatch all) {
        try {
            all.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        LockSupport.parkNanos((long) pause * 1000000L * number / Math.max(1, units.length() / 16));
        long x = 88172645463325252L;
        for (int i = begin; ; i = i + 1 == paths ? 0 : i + 1) {
            x = path(i, x);
            sink = x;
            long done = units.get(number * 16) + 1;
            units.lazySet(number * 16, done);
            if (pause > 0 && done % 100 == 0) {
                LockSupport.parkNanos(nap(number, done) * 1000000L);
            }
        }
    }

    static void once() {
        try {
            for (int i = 0; i < paths; i++) {
                sink = path(i, sink);
                if (i % 10 == 9) {
                    Thread.sleep(1);
                }
                if (i % 10000 == 9999) {
                    System.out.println("at " + i);
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void tell(Thread[] threads) {
        long done = 0;
        long cpu = 0;
        for (int i = 0; i < threads.length; i++) {
            done += units.get(i * 16);
            cpu += CLOCKS.getThreadCpuTime(threads[i].getId());
        }
        System.out.println("units " + done + " " + cpu + " " + System.nanoTime() + "\n.");
    }

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[Integer.parseInt(args[0])];
        paths = Integer.parseInt(args[1]);
        from = Integer.parseInt(args[2]);
        to = Integer.parseInt(args[3]);
        rounds = Integer.parseInt(args[4]);
        pause = args.length > 5 ? Integer.parseInt(args[5]) : 0;
        units = new AtomicLongArray(16 * threads.length + 1);
        for (long end = System.nanoTime() + WARM_NS, i = 0; threads.length > 0; i++) {
            sink = path((int) (i % paths), sink);
            if (System.nanoTime() > end) {
                break;
            }
        }
        CountDownLatch all = new CountDownLatch(1); // busy ones would keep the next from starting
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            int begin = (int) ((long) paths * i / threads.length);
            threads[i] = new Thread(null, () -> run(number, begin, all), "path-" + i, 2 << 20);
            threads[i].setDaemon(true);
            threads[i].start();
        }
        all.countDown();
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("tell")) {
                tell(threads);
            } else if (line.equals("once")) {
                Thread t = new Thread(null, Paths::once, "once", 2 << 20);
                t.start();
                t.join();
                System.out.println(".");
            }
        }
    }
}
