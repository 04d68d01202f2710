import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * A program that has another profiler in it, or what one has left behind: handlers of signals, which
 * a library of the test's (argument 1) puts in place.
 *
 *   take N     a handler of signal N that counts, and goes on to nobody
 *   chain N    one that counts, and goes on to who was there; again: it forgets who was there first
 *   drop N     what was there before comes back
 *   seen N     answers how often its handler was called
 *   timer N    signal 27 (SIGPROF) comes after each N us of the process's CPU time; 0: no more
 *   npe N      N null pointers are met; answers how many were caught
 *   hook 0     it leads calls of malloc, free and pthread_mutex_lock of a library through its own
 *   ishook 0   answers whether that is still so
 *   hooked I   answers how many of them (0, 1, 2) it has seen
 *   allocate N that library allocates and frees N times
 *   copy N     it copies a text of 4096 bytes N times
 *   contend N  it waits N times for a mutex
 *   truth      answers CPU time in ns of the thread "burner"
 *
 * Prints "ready"; every command is answered with "."; ends with its input.
 */
public final class Beside {
    static volatile long sink;
    static int[] nothing;

    static native void take(int signo);

    static native void chain(int signo);

    static native void drop(int signo);

    static native long seen(int signo);

    static native void hook();

    static native boolean isHook();

    static native long hooked(int which);

    static native void allocate(int n);

    static native void copy(int n);

    static native void contend(int n);

    static native void timer(int us);

    static int length(int[] a) {
        return a.length;
    }

    static int nullPointers(int n) {
        int caught = 0;
        for (int i = 0; i < n; i++) {
            try {
                sink += length(nothing);
            } catch (NullPointerException e) {
                caught++;
            }
        }
        return caught;
    }

    static void burn() {
        while (true) {
            long x = sink;
            for (int i = 0; i < 100000; i++) {
                x = x * 31 + i;
            }
            sink = x;
        }
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        Thread burner = new Thread(Beside::burn, "burner");
        burner.setDaemon(true);
        burner.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] word = line.split(" ");
            int n = word.length > 1 ? Integer.parseInt(word[1]) : 0;
            switch (word[0]) {
                case "take":
                    take(n);
                    break;
                case "chain":
                    chain(n);
                    break;
                case "drop":
                    drop(n);
                    break;
                case "timer":
                    timer(n);
                    break;
                case "seen":
                    System.out.println(seen(n));
                    break;
                case "hook":
                    hook();
                    break;
                case "ishook":
                    System.out.println(isHook());
                    break;
                case "hooked":
                    System.out.println(hooked(n));
                    break;
                case "allocate":
                    allocate(n);
                    break;
                case "copy":
                    copy(n);
                    break;
                case "contend":
                    contend(n);
                    break;
                case "npe":
                    System.out.println(nullPointers(n));
                    break;
                default:
                    System.out.println(java.lang.management.ManagementFactory.getThreadMXBean()
                        .getThreadCpuTime(burner.getId()));
            }
            System.out.println(".");
        }
    }
}
