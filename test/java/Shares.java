import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;

/**
 * Burns CPU in known shares and says the truth, measured with per-thread CPU clocks.
 *
 *   java Shares [single|threads]
 *
 * single: one thread, "mixed", alternates between four methods in short slices of random length;
 * a slice goes to the method that is furthest behind its share. threads: four threads, "share-50"
 * and so on, each in its own method, sleep so as to keep their shares of half a core together.
 *
 * stdin: "truth" prints a line "truth METHOD CPU_NS" each, then "."; the reader takes differences
 * of two answers. End of input or "quit" ends the program.
 */
public final class Shares {
    static final ThreadMXBean CLOCKS = ManagementFactory.getThreadMXBean();
    static volatile long sink;

    /** A hot method. Four implementations keep the call from being inlined into the driver. */
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

    static final Work[] WORK = {new A(), new B(), new C(), new D()};
    static final String[] NAME = {"a50", "b25", "c15", "d10"};
    static final int[] SHARE = {50, 25, 15, 10};

    /** CPU time by method so far: written by the threads that burn it. */
    static final long[] burned = new long[WORK.length];

    static synchronized void add(int i, long ns) {
        burned[i] += ns;
    }

    /** Rounds that take about a microsecond, once compiled. */
    static long calibrate() {
        long rounds = 20000;
        long best = Long.MAX_VALUE;
        for (int n = 0; n < 400; n++) {
            long t = CLOCKS.getCurrentThreadCpuTime();
            sink = WORK[n & 3].run(rounds, n + 1);
            best = Math.min(best, CLOCKS.getCurrentThreadCpuTime() - t);
        }
        return Math.max(1, rounds * 1000 / Math.max(1, best));
    }

    /** The method furthest behind its share. */
    static int furthestBehind(long[] mine) {
        int worst = 0;
        for (int i = 1; i < mine.length; i++) {
            if (mine[i] / SHARE[i] < mine[worst] / SHARE[worst]) {
                worst = i;
            }
        }
        return worst;
    }

    static void mixed(long perMicrosecond) {
        long[] mine = new long[WORK.length];
        long x = 88172645463325252L;
        while (true) {
            int i = furthestBehind(mine);
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
            long microseconds = 200 + (x >>> 1) % 1000;
            long t = CLOCKS.getCurrentThreadCpuTime();
            sink = WORK[i].run(microseconds * perMicrosecond, x);
            t = CLOCKS.getCurrentThreadCpuTime() - t;
            mine[i] += t;
            add(i, t);
        }
    }

    static void alone(int i, long perMicrosecond) {
        long began = System.nanoTime();
        long mine = 0;
        while (true) {
            // Half a core in all: this method's share of it, as time has passed.
            if (mine > (System.nanoTime() - began) / 2 * SHARE[i] / 100) {
                try {
                    Thread.sleep(1);
                } catch (InterruptedException e) {
                    return;
                }
                continue;
            }
            long t = CLOCKS.getCurrentThreadCpuTime();
            sink = WORK[i].run(300 * perMicrosecond, mine + 1);
            t = CLOCKS.getCurrentThreadCpuTime() - t;
            mine += t;
            add(i, t);
        }
    }

    static synchronized void tell() {
        for (int i = 0; i < NAME.length; i++) {
            System.out.println("truth " + NAME[i] + " " + burned[i]);
        }
        System.out.println(".");
        System.out.flush();
    }

    public static void main(String[] args) throws Exception {
        final long perMicrosecond = calibrate();
        List<Thread> threads = new ArrayList<>();
        if (args.length > 0 && args[0].equals("threads")) {
            for (int n = 0; n < WORK.length; n++) {
                final int i = n;
                threads.add(new Thread(() -> alone(i, perMicrosecond), "share-" + SHARE[i]));
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
