import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A system class loader of the application's own (-Djava.system.class.loader=OwnLoader), which
 * remembers what the profiler's thread asked it for; and as its main class a workload, which is
 * defined once more by each of a number of such loaders and compiled in all of them, but runs in
 * one only.
 *
 * argument: how many more loaders. stdin: a line asks for the names that were asked for.
 */
public final class OwnLoader extends ClassLoader {
    public static final Queue<String> asked = new ConcurrentLinkedQueue<>();

    public OwnLoader(ClassLoader parent) {
        super(parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (Thread.currentThread().getName().equals("jtop-prof")) {
            asked.add(name);
        }
        if (name.endsWith("Absent")) {
            throw new ClassNotFoundException(name);
        }
        synchronized (this) {
            Class<?> known = findLoadedClass(name);
            if (known != null) {
                return known;
            }
            return name.startsWith("OwnLoader$") ? define(name) : super.loadClass(name, resolve);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream in = getResourceAsStream(name + ".class")) {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            byte[] part = new byte[4096];
            for (int n = in.read(part); n > 0; n = in.read(part)) {
                all.write(part, 0, n);
            }
            return defineClass(name, all.toByteArray(), 0, all.size());
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    /** Never found, and not needed: who wants a method's parameter types asks for it each time. */
    static final class Absent {
    }

    public static final class Work {
        static volatile long sink;

        static long spin(Absent absent, long x) {
            for (int i = 0; i < 500; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }

        /** Enough for it to be compiled. */
        public static void warm() {
            for (int i = 0; i < 20000; i++) {
                sink = spin(null, sink + i);
            }
        }

        public static void main(String[] args) throws Exception {
            for (int i = Integer.parseInt(args[0]); i > 0; i--) {
                ClassLoader more = new OwnLoader(ClassLoader.getSystemClassLoader().getParent());
                more.loadClass("OwnLoader$Work").getMethod("warm").invoke(null);
            }
            warm();
            Thread worker = new Thread(() -> {
                for (;;) {
                    warm();
                }
            });
            worker.setDaemon(true);
            worker.start();
            System.out.println("ready");
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            while (in.readLine() != null) {
                for (String name : asked) {
                    System.out.println(name);
                }
                System.out.println(".");
            }
        }
    }
}
