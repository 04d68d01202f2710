import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.zip.CRC32;

/**
 * Small methods around intrinsics, all inlined into one compiled method, {@code run}, and hot
 * before it says "ready": code that the VM describes at safepoints only, of which there are hardly
 * any.
 *
 * A slice is many calls of one method in a row, timed as a whole with the thread's CPU clock: that
 * is the truth, though the method itself has no frame. A slice goes to the method furthest behind
 * its share. Each call takes so long that run's own loop is next to nothing.
 *
 * stdin: as Shares.
 */
public final class Precise {
    static final ThreadMXBean CLOCKS = ManagementFactory.getThreadMXBean();
    static final String[] NAME = {"copy", "crc", "find", "root", "mix", "bits"};
    static final int[] SHARE = {25, 20, 20, 15, 12, 8};
    static final long[] burned = new long[NAME.length];
    static volatile long sink;

    static final byte[] FROM = new byte[8192];
    static final byte[] TO = new byte[8192];
    static final CRC32 SUM = new CRC32();
    static final String TEXT = text(2000);
    static final String WORD = "zy";

    static String text(int n) {
        StringBuilder s = new StringBuilder();
        for (int i = 0; i < n; i++) {
            s.append((char) ('a' + i % 24));
        }
        return s + WORD;
    }

    static long copy(long x) {
        System.arraycopy(FROM, (int) (x & 31), TO, (int) (x >>> 5 & 31), 8000);
        return TO[(int) (x & 511)] + x;
    }

    static long crc(long x) {
        SUM.reset();
        SUM.update(FROM, (int) (x & 31), 2048);
        return SUM.getValue() + x;
    }

    static long find(long x) {
        return TEXT.indexOf(WORD, (int) (x & 15)) + x;
    }

    static long root(long x) {
        double d = x & 0xffff;
        d = Math.sqrt(d + 1.5) + Math.sin(d) + Math.abs(d - 3);
        d = Math.sqrt(d * d + 7) + Math.log(d * d + 2);
        return x + (long) d;
    }

    static long mix(long x) {
        for (int i = 0; i < 24; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    static long bits(long x) {
        long n = Long.bitCount(x) + Long.numberOfLeadingZeros(x | 1);
        n = n * 31 + Long.numberOfTrailingZeros(x | 4) + Long.reverseBytes(n);
        n = n / (1 + (x & 7)) + n % (3 + (x & 15));
        return Math.max(n, x) + Math.min(n, 9);
    }

    /** Everything is inlined here. */
    static long run(int which, int calls, long x) {
        for (int i = 0; i < calls; i++) {
            switch (which) {
                case 0:
                    x = copy(x);
                    break;
                case 1:
                    x = crc(x);
                    break;
                case 2:
                    x = find(x);
                    break;
                case 3:
                    x = root(x);
                    break;
                case 4:
                    x = mix(x);
                    break;
                default:
                    x = bits(x);
            }
        }
        return x;
    }

    /** Calls that take about three milliseconds. */
    static int calibrate(int which) {
        int calls = 2000;
        long best = Long.MAX_VALUE;
        for (int n = 0; n < 50; n++) {
            long t = CLOCKS.getCurrentThreadCpuTime();
            sink = run(which, calls, n);
            best = Math.min(best, CLOCKS.getCurrentThreadCpuTime() - t);
        }
        return (int) Math.max(1, calls * 3000000L / Math.max(1, best));
    }

    static int furthestBehind(long[] mine) {
        int worst = 0;
        for (int i = 1; i < mine.length; i++) {
            if (mine[i] / SHARE[i] < mine[worst] / SHARE[worst]) {
                worst = i;
            }
        }
        return worst;
    }

    static synchronized void add(int i, long ns) {
        burned[i] += ns;
    }

    static synchronized void tell() {
        for (int i = 0; i < NAME.length; i++) {
            System.out.println("truth " + NAME[i] + " " + burned[i]);
        }
        System.out.println(".");
        System.out.flush();
    }

    static void burn(int[] calls, long untilNs) {
        long[] mine = new long[NAME.length];
        long x = 88172645463325252L;
        while (System.nanoTime() < untilNs) {
            int i = furthestBehind(mine);
            x = mix(x);
            int n = calls[i] / 2 + (int) ((x >>> 1) % calls[i]);
            long t = CLOCKS.getCurrentThreadCpuTime();
            sink = run(i, n, x);
            t = CLOCKS.getCurrentThreadCpuTime() - t;
            mine[i] += t;
            add(i, t);
        }
    }

    public static void main(String[] args) throws Exception {
        int[] calls = new int[NAME.length];
        for (int round = 0; round < 2; round++) { // the second time everything is compiled
            for (int i = 0; i < calls.length; i++) {
                calls[i] = calibrate(i);
            }
            burn(calls, System.nanoTime() + 1000000000L);
        }
        Thread burner = new Thread(() -> burn(calls, Long.MAX_VALUE), "burner");
        burner.setDaemon(true);
        burner.start();
        System.out.println("ready");
        System.out.flush();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("truth")) {
                tell();
            } else if (line.equals("quit")) {
                break;
            }
        }
    }
}
