import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/**
 * A thread, "looper", that never returns: outer calls inner, which calls work for ever. What of them
 * runs is replaced while they are on the stack. Run it as its own -javaagent.
 *
 *   retransform    the same bytes once more
 *   redefine       other bytes: each method that uses the constant becomes obsolete
 *   version        answers how often the class has been redefined
 *
 * Prints "ready"; every command is answered with "."; ends with its input.
 */
public final class Redefined {
    static Instrumentation instrumentation;

    static final class Looper implements Runnable {
        static volatile long sink;

        /* In the class file this is an integer constant, 03 12 34 56 and the version. */
        static int version() {
            return 0x12345600;
        }

        static void work(int n) {
            long sum = 0;
            for (int i = 0; i < n; i++) {
                sum += i * 31L ^ sum;
            }
            sink = sum;
        }

        static void inner() {
            while (sink != 1) {
                work(20000);
                sink += 0x12345600;
            }
        }

        static void outer() {
            inner();
            sink += 0x12345600;
        }

        @Override
        public void run() {
            outer();
        }
    }

    public static void premain(String options, Instrumentation given) {
        instrumentation = given;
    }

    static byte[] bytes() throws Exception {
        try (InputStream in = Redefined.class.getResourceAsStream("Redefined$Looper.class")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (int b = in.read(); b >= 0; b = in.read()) {
                out.write(b);
            }
            return out.toByteArray();
        }
    }

    static void retransform() throws Exception {
        ClassFileTransformer same = new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> c,
                                    ProtectionDomain domain, byte[] b) {
                return c == Looper.class ? b.clone() : null;
            }
        };
        instrumentation.addTransformer(same, true);
        instrumentation.retransformClasses(Looper.class);
        instrumentation.removeTransformer(same);
    }

    static void redefine() throws Exception {
        byte[] b = bytes();
        int version = Looper.version() + 1 & 0xff;
        for (int i = 0; i + 4 < b.length; i++) {
            if (b[i] == 3 && b[i + 1] == 0x12 && b[i + 2] == 0x34 && b[i + 3] == 0x56) {
                b[i + 4] = (byte) version;
            }
        }
        instrumentation.redefineClasses(new ClassDefinition(Looper.class, b));
    }

    public static void main(String[] args) throws Exception {
        Thread looper = new Thread(new Looper(), "looper");
        looper.setDaemon(true);
        looper.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            switch (line) {
                case "retransform":
                    retransform();
                    break;
                case "redefine":
                    redefine();
                    break;
                default:
                    System.out.println(Looper.version() & 0xff);
            }
            System.out.println(".");
        }
    }
}
