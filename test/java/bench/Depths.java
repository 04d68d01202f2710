package bench;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Burns the same CPU time at five depths of stack and says the truth, as Shares does: a thread works
 * in slices of 10 to 30 ms, each at the depth that is furthest behind. The method at the end says
 * the depth, d50 to d1500.
 *
 * stdin: "truth" prints a line "truth METHOD CPU_NS" each, then "."; end of input ends it.
 */
public final class Depths {
    static final ThreadMXBean CLOCKS = ManagementFactory.getThreadMXBean();
    static final int[] DEPTHS = {50, 200, 500, 1000, 1500};
    static final long[] burned = new long[DEPTHS.length];
    static int running = -1;
    static long began, driver;
    static volatile long sink;

    static long turn(long x) {
        for (int i = 0; i < 1000; i++) {
            x = Walk.mix(x);
        }
        return x;
    }

    static long d50(int rounds, long x) {
        for (int i = 0; i < rounds; i++) {
            x = turn(x);
        }
        return x;
    }

    static long d200(int rounds, long x) {
        for (int i = 0; i < rounds; i++) {
            x = turn(x);
        }
        return x;
    }

    static long d500(int rounds, long x) {
        for (int i = 0; i < rounds; i++) {
            x = turn(x);
        }
        return x;
    }

    static long d1000(int rounds, long x) {
        for (int i = 0; i < rounds; i++) {
            x = turn(x);
        }
        return x;
    }

    static long d1500(int rounds, long x) {
        for (int i = 0; i < rounds; i++) {
            x = turn(x);
        }
        return x;
    }

    static long leaf(int i, int rounds, long x) {
        switch (i) {
            case 0: return d50(rounds, x);
            case 1: return d200(rounds, x);
            case 2: return d500(rounds, x);
            case 3: return d1000(rounds, x);
            default: return d1500(rounds, x);
        }
    }

    static long down(int more, int i, int rounds, long x) {
        return more <= 1 ? leaf(i, rounds, x) : other(more - 1, i, rounds, x) + 1;
    }

    static long other(int more, int i, int rounds, long x) {
        return more <= 1 ? leaf(i, rounds, x) : down(more - 1, i, rounds, x) ^ more;
    }

    static synchronized void begin(int i) {
        began = CLOCKS.getCurrentThreadCpuTime();
        running = i;
    }

    static synchronized void end() {
        burned[running] += CLOCKS.getCurrentThreadCpuTime() - began;
        running = -1;
    }

    /** Of the thread's own frames, run, down and leaf's two are not among the calls. */
    static void slice(int i, int rounds) {
        begin(i);
        sink = down(DEPTHS[i] - 5, i, rounds, sink + 1);
        end();
    }

    static int furthestBehind() {
        int worst = 0;
        for (int i = 1; i < burned.length; i++) {
            worst = burned[i] < burned[worst] ? i : worst;
        }
        return worst;
    }

    static void run() {
        driver = Thread.currentThread().getId();
        for (int i = 0; i < 2000; i++) { // until it is compiled
            slice(i % DEPTHS.length, 10);
        }
        long each = 0;
        for (int i = 0; i < burned.length; i++) {
            each += burned[i] = 0;
        }
        long x = 88172645463325252L + each;
        long before = System.nanoTime();
        sink = d50(5000, x);
        int perMs = (int) Math.max(1, 5000 * 1000000L / (System.nanoTime() - before));
        while (true) {
            x = Walk.mix(x);
            slice(furthestBehind(), perMs * (10 + (int) ((x >>> 1) % 20)));
        }
    }

    static synchronized void tell() {
        for (int i = 0; i < DEPTHS.length; i++) {
            long more = i == running ? CLOCKS.getThreadCpuTime(driver) - began : 0;
            System.out.println("truth d" + DEPTHS[i] + " " + (burned[i] + more));
        }
        System.out.println(".");
    }

    public static void main(String[] args) throws Exception {
        Thread t = new Thread(null, Depths::run, "depths", 4 << 20);
        t.setDaemon(true);
        t.start();
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("truth")) {
                tell();
            }
        }
    }
}
