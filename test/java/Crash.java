import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * Two busy threads. A line on stdin ends the VM: "unsafe" by a write to address 0,
 * "memory" by using up the heap (with -XX:+CrashOnOutOfMemoryError).
 */
public final class Crash {
    static volatile long sink;

    static void busy() {
        for (long x = 1;; x = x * 6364136223846793005L + 1442695040888963407L) {
            sink = x;
        }
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
        for (int i = 0; i < 2; i++) {
            Thread t = new Thread(Crash::busy, "busy-" + i);
            t.setDaemon(true);
            t.start();
        }
        System.out.println("ready");
        String how = new BufferedReader(new InputStreamReader(System.in)).readLine();
        if ("unsafe".equals(how)) {
            unsafe();
        } else if ("memory".equals(how)) {
            memory();
        }
    }
}
