import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;

/**
 * Native memory and locks in known amounts (native/memory.c).
 *
 *   leak N BYTES     keeps N blocks: leakSite
 *   hold N BYTES     has N blocks at a time and gives all back: holdSite
 *   churn N BYTES    takes and gives back: churnSite. 7 * N * BYTES are allocated
 *   late N BYTES     loads another library first, whose blocks are kept: lateSite
 *   reload N         loads that library and unloads it, N times
 *   mutex N NS       two threads take a lock N times each and hold it so long; answers "waited NS"
 *   rwlock N NS      likewise
 *   condition N NS   waits for a condition, likewise
 *   free N           takes a lock that nobody else wants, N times
 *
 * Prints "ready"; every command is answered with "."; ends with its input.
 */
public final class NativeMemory {
    static native void leakEarly(long n, long bytes);

    static native void holdEarly(long n, long bytes);

    static native void churnEarly(long n, long bytes);

    static native long contendEarly(long n, long heldNs, boolean rw);

    static native long awaitEarly(long n, long ns);

    static native void reloadEarly(long n, String path);

    static native void leakLate(long n, long bytes);

    static void leakSite(long n, long bytes) {
        leakEarly(n, bytes);
    }

    static void holdSite(long n, long bytes) {
        holdEarly(n, bytes);
    }

    static void churnSite(long n, long bytes) {
        churnEarly(n, bytes);
    }

    static void lateSite(long n, long bytes) {
        leakLate(n, bytes);
    }

    static String path(String name) {
        File directory = new File(System.getProperty("java.class.path"));
        return new File(directory, "libmemory-" + name + ".so").getAbsolutePath();
    }

    static void load(String name) {
        System.load(path(name));
    }

    static long contend(long n, long heldNs, boolean rw) throws InterruptedException {
        long[] waited = new long[2];
        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            final int own = i;
            threads[i] = new Thread(() -> waited[own] = contendEarly(n, heldNs, rw), "taker-" + i);
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
        return waited[0] + waited[1];
    }

    static void obey(String[] words) throws Exception {
        long n = words.length > 1 ? Long.parseLong(words[1]) : 0;
        long m = words.length > 2 ? Long.parseLong(words[2]) : 0;
        switch (words[0]) {
            case "leak":
                leakSite(n, m);
                break;
            case "hold":
                holdSite(n, m);
                break;
            case "churn":
                churnSite(n, m);
                break;
            case "load":
                load("late");
                break;
            case "reload":
                reloadEarly(n, path("late"));
                break;
            case "late":
                lateSite(n, m);
                break;
            case "mutex":
                System.out.println("waited " + contend(n, m, false));
                break;
            case "rwlock":
                System.out.println("waited " + contend(n, m, true));
                break;
            case "condition":
                System.out.println("waited " + awaitEarly(n, m));
                break;
            case "free":
                contendEarly(n, 0, false);
                break;
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    public static void main(String[] args) throws Exception {
        load("early");
        leakSite(1, 16);
        churnSite(1, 4096);
        contendEarly(1, 0, true);
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            obey(line.trim().split(" "));
            System.out.println(".");
        }
    }
}
