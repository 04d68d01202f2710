import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * Two busy threads, and one that starts threads. A line on stdin ends the VM: "unsafe" by a write to address 0,
 * "memory" by using up the heap (with -XX:+CrashOnOutOfMemoryError).
 */
public final class Crash {
    static volatile long sink;

    static void busy() {
        for (long x = 1;; x = x * 6364136223846793005L + 1442695040888963407L) {
            sink = x;
        }
    }

    /** Threads that begin and end, also while the VM reports the error. */
    static void starting() {
        for (;;) {
            Thread t = new Thread(() -> sink++, "short");
            t.start();
            try {
                t.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static void start(Runnable loop, String name) {
        Thread t = new Thread(loop, name);
        t.setDaemon(true);
        t.start();
    }

    static void unsafe() throws ReflectiveOperationException {
        Class<?> c = Class.forName("sun.misc.Unsafe");
        Field f = c.getDeclaredField("theUnsafe");
        f.setAccessible(true);
        c.getMethod("putAddress", long.class, long.class).invoke(f.get(null), 0L, 0L);
    }

    static void memory() {
        List<byte[]> all = new ArrayList<>();
        for (;;) {
            all.add(new byte[1 << 20]);
        }
    }

    public static void main(String[] args) throws Exception {
        start(Crash::busy, "busy-0");
        start(Crash::busy, "busy-1");
        start(Crash::starting, "starting");
        System.out.println("ready");
        String how = new BufferedReader(new InputStreamReader(System.in)).readLine();
        if ("unsafe".equals(how)) {
            unsafe();
        } else if ("memory".equals(how)) {
            memory();
        }
    }
}
