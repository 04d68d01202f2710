import java.util.Arrays;
import java.util.function.LongUnaryOperator;

/**
 * Runs hot and says which of its classes have jmethodIDs. The library whose path is the argument
 * (test/java/native/method_ids.c) looks into the VM.
 *
 * stdin: each line makes it print "CLASS table|none|unknown" for each hot class, then "."; end of
 * input ends it.
 */
public final class MethodIds {
    static volatile long sink;

    static final class Compiled {
        static long spin(long x) {
            for (int i = 0; i < 2000; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }
    }

    static final class Inlining {
        static long small(long x) {
            return (x ^ x >>> 3) + Long.rotateLeft(x, 9);
        }

        static long outer(long x) {
            for (int i = 0; i < 1000; i++) {
                x = small(x);
            }
            return x;
        }
    }

    static final class Fresh implements LongUnaryOperator {
        public long applyAsLong(long x) {
            byte[] a = new byte[4096];
            Arrays.fill(a, (byte) x);
            return Arrays.hashCode(a) + x;
        }
    }

    /** Not String: the launcher makes its jmethodIDs. */
    static final Class<?>[] HOT = {Compiled.class, Inlining.class, Fresh.class, Worker.class,
        Arrays.class};

    static final class Worker implements Runnable {
        public void run() {
            LongUnaryOperator fresh = new Fresh();
            long x = 88172645463325252L;
            while (true) {
                x = Compiled.spin(x);
                x = Inlining.outer(x);
                x = fresh.applyAsLong(x);
                sink = x;
            }
        }
    }

    /** 1: the class has jmethodIDs, 0: it has none, -1: this VM does not tell. */
    static native int table(Class<?> c, byte[] hold);

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        Thread t = new Thread(new Worker(), "worker");
        t.setDaemon(true);
        t.start();
        System.out.println("ready");
        System.out.flush();
        for (int c = System.in.read(); c >= 0; c = System.in.read()) {
            if (c != '\n') {
                continue;
            }
            byte[] hold = new byte[8];
            for (Class<?> hot : HOT) {
                int n = table(hot, hold);
                String has = n < 0 ? " unknown" : n > 0 ? " table" : " none";
                System.out.println(hot.getName() + has);
            }
            System.out.println(".");
            System.out.flush();
        }
    }
}
