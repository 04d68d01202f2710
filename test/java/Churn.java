import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * Defines a class, runs it for 5 ms, forgets it, for ever: classes are unloaded all the time and
 * their memory is used again, so a profiler that keeps pointers instead of names tells lies.
 *
 * stdin: "count" prints "count N", the number of classes so far; end of input ends it.
 */
public final class Churn {
    static volatile int count;

    /** A class loader for one class. */
    static final class Once extends ClassLoader {
        Once() {
            super(Churn.class.getClassLoader());
        }

        Class<?> define(byte[] b) {
            return defineClass(null, b, 0, b.length);
        }
    }

    static byte[] template() throws IOException {
        try (InputStream in = Churn.class.getResourceAsStream("ChurnTemplate$T00000.class")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] part = new byte[4096];
            for (int n = in.read(part); n > 0; n = in.read(part)) {
                out.write(part, 0, n);
            }
            return out.toByteArray();
        }
    }

    /** The class file with every "00000" replaced: the same length, so nothing else changes. */
    static byte[] numbered(byte[] template, int number) {
        String digits = String.format("%05d", number % 100000);
        String text = new String(template, StandardCharsets.ISO_8859_1);
        return text.replace("00000", digits).getBytes(StandardCharsets.ISO_8859_1);
    }

    static void churn() {
        try {
            byte[] template = template();
            for (int n = 1; ; n++) {
                Class<?> c = new Once().define(numbered(template, n));
                ((Runnable) c.getDeclaredConstructor().newInstance()).run();
                count = n;
                if (n % 50 == 0) {
                    System.gc();
                }
            }
        } catch (ReflectiveOperationException | IOException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread t = new Thread(Churn::churn, "churn");
        t.setDaemon(true);
        t.start();
        System.out.println("ready");
        System.out.flush();
        for (int c = System.in.read(); c >= 0; c = System.in.read()) {
            if (c == '\n') {
                System.out.println("count " + count);
                System.out.println(".");
                System.out.flush();
            }
        }
    }
}
