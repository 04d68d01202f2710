package bench;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;

/**
 * A JVM of some size that sees its own pauses.
 *
 *   java bench.Large CLASSES THREADS
 *
 * It loads copies of LargeTemplate, all in one class loader, and starts threads that sleep. One
 * thread spins on System.nanoTime, another sleeps for a millisecond again and again. stdin: "begin"
 * forgets what they have seen, and prints "."; "tell" prints "pause GAP-NS LATE-NS", then ".": the
 * longest time between two calls of nanoTime, and the most that the sleeper was late; end of input
 * ends it.
 */
public final class Large {
    static volatile long gap, late, sink;
    static volatile int round;

    /** All copies have the same loader. */
    static final class Loader extends ClassLoader {
        Loader() {
            super(Large.class.getClassLoader());
        }

        Class<?> define(byte[] b) {
            return defineClass(null, b, 0, b.length);
        }
    }

    static byte[] template() throws IOException {
        try (InputStream in = Large.class.getResourceAsStream("LargeTemplate$T00000.class")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] part = new byte[4096];
            for (int n = in.read(part); n > 0; n = in.read(part)) {
                out.write(part, 0, n);
            }
            return out.toByteArray();
        }
    }

    /** Every "00000" replaced: the same length, so nothing else changes. */
    static void load(int classes) throws Exception {
        String text = new String(template(), StandardCharsets.ISO_8859_1);
        Loader loader = new Loader();
        for (int i = 1; i <= classes; i++) {
            String copy = text.replace("00000", String.format("%05d", i % 100000));
            Class<?> c = loader.define(copy.getBytes(StandardCharsets.ISO_8859_1));
            ((Runnable) c.getDeclaredConstructor().newInstance()).run();
        }
    }

    static void spin() {
        int seen = 0;
        long most = 0;
        for (long before = System.nanoTime(), now; ; before = now) {
            now = System.nanoTime();
            if (seen != round) {
                seen = round;
                most = 0;
                gap = 0;
            } else if (now - before > most) {
                most = now - before;
                gap = most;
            }
        }
    }

    static void sleep() {
        int seen = 0;
        long most = 0;
        while (true) {
            long due = System.nanoTime() + 1000000;
            LockSupport.parkNanos(1000000);
            long over = System.nanoTime() - due;
            if (seen != round) {
                seen = round;
                most = 0;
                late = 0;
            } else if (over > most) {
                most = over;
                late = most;
            }
        }
    }

    static void start(String name, Runnable body) {
        Thread t = new Thread(null, body, name, 256 << 10);
        t.setDaemon(true);
        t.start();
    }

    static void idle() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        load(Integer.parseInt(args[0]));
        int threads = Integer.parseInt(args[1]);
        for (int i = 0; i < threads; i++) {
            start("idle-" + i, Large::idle);
        }
        start("spin", Large::spin);
        start("timer", Large::sleep);
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("begin")) {
                round++;
                System.out.println(".");
            } else if (line.equals("tell")) {
                System.out.println("pause " + gap + " " + late + "\n.");
            }
        }
    }
}
