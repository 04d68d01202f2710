import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;

/**
 * Burns CPU in known shares and says the truth, measured with per-thread CPU clocks.
 *
 *   java Shares [single|eight|threads]
 *
 * single: one thread, "mixed", alternates between four methods in slices of random length; a slice
 * goes to the method that is furthest behind its share. Slices are many times longer than the
 * interval of sampling, so that chance has little part in how many samples fall into one. eight:
 * the same with eight methods down to 2 %, of which t06 is inlined into s08. threads: four threads,
 * "share-50" and so on, each in its own method, sleep so as to keep their shares of half a core
 * together.
 *
 * stdin: "truth" prints a line "truth METHOD CPU_NS" each, then "."; the reader takes differences
 * of two answers. End of input or "quit" ends the program.
 */
public final class Shares {
    static final ThreadMXBean CLOCKS = ManagementFactory.getThreadMXBean();
    static volatile long sink;

    /** A hot method. Many implementations keep the call from being inlined into the driver. */
    interface Work {
        long run(long rounds, long x);
    }

    static final class A implements Work {
        public long run(long rounds, long x) {
            return a50(rounds, x);
        }

        static long a50(long rounds, long x) {
            for (long i = 0; i < rounds; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }
    }

    static final class B implements Work {
        public long run(long rounds, long x) {
            return b25(rounds, x);
        }

        static long b25(long rounds, long x) {
            for (long i = 0; i < rounds; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }
    }

    static final class C implements Work {
        public long run(long rounds, long x) {
            return c15(rounds, x);
        }

        static long c15(long rounds, long x) {
            for (long i = 0; i < rounds; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }
    }

    static final class D implements Work {
        public long run(long rounds, long x) {
            return d10(rounds, x);
        }

        static long d10(long rounds, long x) {
            for (long i = 0; i < rounds; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }
    }

    static final class P implements Work {
        public long run(long rounds, long x) {
            return p50(rounds, x);
        }

        static long p50(long rounds, long x) {
            for (long i = 0; i < rounds; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }
    }

    static final class Q implements Work {
        public long run(long rounds, long x) {
            return q16(rounds, x);
        }

        static long q16(long rounds, long x) {
            for (long i = 0; i < rounds; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }
    }

    static final class R implements Work {
        public long run(long rounds, long x) {
            return r11(rounds, x);
        }

        static long r11(long rounds, long x) {
            for (long i = 0; i < rounds; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }
    }

    static final class U implements Work {
        public long run(long rounds, long x) {
            return u04(rounds, x);
        }

        static long u04(long rounds, long x) {
            for (long i = 0; i < rounds; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }
    }

    static final class V implements Work {
        public long run(long rounds, long x) {
            return v03(rounds, x);
        }

        static long v03(long rounds, long x) {
            for (long i = 0; i < rounds; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }
    }

    static final class W implements Work {
        public long run(long rounds, long x) {
            return w02(rounds, x);
        }

        static long w02(long rounds, long x) {
            for (long i = 0; i < rounds; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }
    }

    /** A caller and the callee that is inlined into it: who is in which one tells the clock. */
    static final class S implements Work {
        public long run(long rounds, long x) {
            return s08(rounds, x);
        }

        static long t06(long rounds, long x) {
            for (long i = 0; i < rounds; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }

        static long s08(long rounds, long x) {
            for (long i = 0; i < rounds; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            calleeBegan = CLOCKS.getCurrentThreadCpuTime();
            x = t06(rounds * 6 / 8, x);
            callee = CLOCKS.getCurrentThreadCpuTime() - calleeBegan;
            return x;
        }

        /** Called often, so that it is worth inlining. */
        static void warm() {
            for (int i = 0; i < 50000; i++) {
                sink = s08(40, i);
            }
        }
    }

    /** Of the slice that runs: its method, -1 for none, the driver's CPU time when it began and
     * when it called t06, and what that took once it is over; 0 until then. */
    static volatile int running = -1;
    static volatile long began;
    static volatile long calleeBegan;
    static volatile long callee;
    static volatile long driver;

    static final Work[] FOUR = {new A(), new B(), new C(), new D()};
    static final String[] FOUR_NAMES = {"a50", "b25", "c15", "d10"};
    static final int[] FOUR_SHARES = {50, 25, 15, 10};

    static final Work[] EIGHT = {new P(), new Q(), new R(), new S(), new U(), new V(), new W()};
    static final String[] EIGHT_NAMES = {"p50", "q16", "r11", "s08", "u04", "v03", "w02", "t06"};
    static final int[] EIGHT_SHARES = {50, 16, 11, 14, 4, 3, 2}; // s08 with what it calls

    static Work[] work = FOUR;
    static String[] name = FOUR_NAMES;
    static int[] share = FOUR_SHARES;

    /** CPU time by method so far: written by the threads that burn it. */
    static final long[] burned = new long[EIGHT_NAMES.length];

    static synchronized void add(int i, long ns) {
        burned[i] += ns;
    }

    /** Rounds that take about a microsecond, once compiled. */
    static long calibrate() {
        long rounds = 20000;
        long best = Long.MAX_VALUE;
        for (int n = 0; n < 100 * work.length; n++) {
            long t = CLOCKS.getCurrentThreadCpuTime();
            sink = work[n % work.length].run(rounds, n + 1);
            best = Math.min(best, CLOCKS.getCurrentThreadCpuTime() - t);
        }
        return Math.max(1, rounds * 1000 / Math.max(1, best));
    }

    /** The method furthest behind its share. */
    static int furthestBehind(long[] mine) {
        int worst = 0;
        for (int i = 1; i < mine.length; i++) {
            if (mine[i] / share[i] < mine[worst] / share[worst]) {
                worst = i;
            }
        }
        return worst;
    }

    static void mixed(long perMicrosecond) {
        driver = Thread.currentThread().getId();
        long[] mine = new long[work.length];
        long x = 88172645463325252L;
        while (true) {
            int i = furthestBehind(mine);
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
            long microseconds = 10000 + (x >>> 1) % 20000;
            begin(i);
            sink = work[i].run(microseconds * perMicrosecond, x);
            mine[i] += end();
        }
    }

    static synchronized void begin(int i) {
        calleeBegan = 0;
        callee = 0;
        began = CLOCKS.getCurrentThreadCpuTime();
        running = i;
    }

    static synchronized long end() {
        long t = CLOCKS.getCurrentThreadCpuTime() - began;
        burned[running] += t - callee;
        burned[name.length - 1] += callee;
        running = -1;
        return t;
    }

    /** What the slice that runs took so far, of method i. */
    static long unfinished(int i) {
        long now = CLOCKS.getThreadCpuTime(driver);
        long of = callee > 0 ? callee : calleeBegan > 0 ? now - calleeBegan : 0;
        return (i == running ? now - began - of : 0) + (i == name.length - 1 ? of : 0);
    }

    static void alone(int i, long perMicrosecond) {
        long began = System.nanoTime();
        long before = CLOCKS.getCurrentThreadCpuTime();
        long mine = 0;
        while (true) {
            // What it costs to sleep is the thread's, too.
            long now = CLOCKS.getCurrentThreadCpuTime();
            add(i, now - before);
            mine += now - before;
            before = now;
            // Half a core in all: this method's share of it, as time has passed.
            if (mine > (System.nanoTime() - began) / 2 * share[i] / 100) {
                try {
                    // Seldom: what it costs to switch is in a thread's CPU time, not in perf's.
                    Thread.sleep(10);
                } catch (InterruptedException e) {
                    return;
                }
                continue;
            }
            sink = work[i].run(300 * perMicrosecond, mine + 1);
        }
    }

    static synchronized void tell() {
        for (int i = 0; i < name.length; i++) {
            long more = running >= 0 ? unfinished(i) : 0;
            System.out.println("truth " + name[i] + " " + (burned[i] + more));
        }
        System.out.println(".");
        System.out.flush();
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length > 0 ? args[0] : "single";
        if (mode.equals("eight")) {
            work = EIGHT;
            name = EIGHT_NAMES;
            share = EIGHT_SHARES;
            S.warm();
        }
        final long perMicrosecond = calibrate();
        List<Thread> threads = new ArrayList<>();
        if (mode.equals("threads")) {
            for (int n = 0; n < work.length; n++) {
                final int i = n;
                threads.add(new Thread(() -> alone(i, perMicrosecond), "share-" + share[i]));
            }
        } else {
            threads.add(new Thread(() -> mixed(perMicrosecond), "mixed"));
        }
        for (Thread t : threads) {
            t.setDaemon(true);
            t.start();
        }
        System.out.println("ready");
        System.out.flush();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("truth")) {
                tell();
            } else if (line.equals("quit")) {
                break;
            } else if (line.equals("exit")) {
                System.exit(0);
            }
        }
    }
}
