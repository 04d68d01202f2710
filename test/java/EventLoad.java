import java.util.concurrent.locks.ReentrantLock;

/**
 * Programs that do most of what one event is about, and count themselves: compute, allocate, lock
 * (one thread), contend (two), malloc, mutex (one thread), mutexes (two), call (a method about
 * 10,000 times a second) and mixed. Each line of input is answered by the number of units done so
 * far, then "."; ends with its input.
 */
public final class EventLoad {
    static final ReentrantLock LOCK = new ReentrantLock();
    static final int MOST = 2;
    static final long[] units = new long[MOST * 64]; // a cache line and more for each thread
    static volatile Object kept;
    static volatile long sink;

    static long compute(long x, int steps) {
        for (int i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L ^ x >>> 17;
        }
        return x;
    }

    static Object allocate(int i) {
        byte[][] all = new byte[200][];
        for (int k = 0; k < all.length; k++) {
            all[k] = new byte[16 + (i + k) % 100 * 10];
        }
        return all;
    }

    static void lock(int steps) {
        for (int i = 0; i < 100; i++) {
            LOCK.lock();
            try {
                sink = compute(sink, steps);
            } finally {
                LOCK.unlock();
            }
            synchronized (LOCK) {
                sink = compute(sink, steps);
            }
        }
    }

    /** About 100 us. */
    static long step(long x) {
        return compute(x, 60000);
    }

    static void once(String kind, int i) {
        switch (kind) {
            case "compute":
                sink = compute(sink, 10000);
                break;
            case "allocate":
                kept = allocate(i);
                break;
            case "lock":
                lock(10);
                break;
            case "contend":
                lock(2000);
                break;
            case "malloc":
                NativeMemory.churnEarly(10, 200);
                break;
            case "mutex":
            case "mutexes":
                NativeMemory.contendEarly(1000, 0, false);
                break;
            case "call":
                sink = step(sink);
                break;
            case "mixed":
                sink = compute(sink, 10000);
                kept = allocate(i);
                lock(10);
                NativeMemory.churnEarly(1, 200);
                break;
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    public static void main(String[] args) throws Exception {
        String kind = args[0];
        boolean two = kind.equals("contend") || kind.equals("mutexes");
        NativeMemory.load("early");
        for (int n = 0; n < (two ? MOST : 1); n++) {
            final int own = n * 64;
            Thread thread = new Thread(() -> {
                for (int i = 0;; i++) {
                    once(kind, i);
                    units[own]++;
                }
            }, "load-" + n);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("ready");
        for (int c; (c = System.in.read()) >= 0; ) {
            if (c == '\n') {
                System.out.println("units " + (units[0] + units[64]) + "\n.");
            }
        }
    }
}
