import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Everything a stack walker stumbles over, in three threads: stubs and intrinsics, exceptions, deep
 * recursion, megamorphic calls, chains of method handles, reflection, class loading and unloading,
 * calls from C, faults, locks, short-lived threads. Prints "ready"; ends with its input.
 */
public class Hostile {
    static volatile long sink;
    static final boolean CALLS_C = Callbacks.load();

    interface Shape {
        double area(double x);
    }

    static class Twice implements Shape {
        public double area(double x) {
            return x * 2;
        }
    }

    static class Thrice implements Shape {
        public double area(double x) {
            return x * 3;
        }
    }

    static class More implements Shape {
        public double area(double x) {
            return x + 3;
        }
    }

    /** Calls the math stubs. */
    static class Curved implements Shape {
        public double area(double x) {
            return Math.sin(x) + Math.pow(x, 1.1) + Math.log(x + 2);
        }
    }

    static final Shape[] SHAPES = {new Twice(), new Thrice(), new More(), new Curved()};

    /** Defined anew for every use. */
    public static class Payload implements Runnable {
        static long total;

        public void run() {
            for (int i = 0; i < 20000; i++) {
                total += work(i);
            }
        }

        static long work(int i) {
            return i * 31L ^ i >> 3;
        }
    }

    static class Loader extends ClassLoader {
        Class<?> define(byte[] code) {
            return defineClass(null, code, 0, code.length);
        }
    }

    static void deflate() throws Exception {
        byte[] data = new byte[20000];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (i * i % 7 + i / 1000);
        }
        byte[] packed = new byte[30000];
        Deflater deflater = new Deflater();
        deflater.setInput(data);
        deflater.finish();
        int n = deflater.deflate(packed);
        deflater.end();
        Inflater inflater = new Inflater();
        inflater.setInput(packed, 0, n);
        inflater.inflate(data);
        inflater.end();
        CRC32 crc = new CRC32();
        for (int i = 0; i < 50; i++) {
            crc.update(data);
        }
        sink += crc.getValue();
    }

    static void copy() {
        byte[] a = new byte[5000];
        byte[] b = new byte[5000];
        long[] c = new long[300];
        Object[] d = new Object[200];
        String[] e = new String[200];
        for (int i = 0; i < 500; i++) {
            System.arraycopy(a, i % 7, b, i % 11, 4000 + i % 100);
            System.arraycopy(c, 0, c, i % 5, 200);
            System.arraycopy(d, 0, e, 0, 200);
        }
        sink += b[3];
    }

    static void strings() {
        StringBuilder s = new StringBuilder();
        for (int i = 0; i < 500; i++) {
            s.append(i).append("abc").append(i * 1.5);
        }
        String t = s.toString();
        sink += t.indexOf("499abc748") + t.hashCode() + t.getBytes(StandardCharsets.UTF_8).length;
    }

    static int throwing(int n) {
        try {
            if (n <= 0) {
                throw new IllegalStateException("hostile");
            }
            return throwing(n - 1) + 1;
        } catch (IllegalStateException e) {
            if (n % 3 == 0) {
                throw e;
            }
            return 1;
        }
    }

    static void exceptions() {
        for (int i = 0; i < 300; i++) {
            try {
                sink += throwing(10 + i % 20);
            } catch (IllegalStateException e) {
                sink++;
            }
        }
    }

    static int bottom() {
        int x = 1;
        for (int i = 0; i < 50000; i++) {
            x += x << 3 ^ i;
        }
        return x;
    }

    static int deep(int n) {
        return n == 0 ? bottom() : deep(n - 1) + 1;
    }

    static void megamorphic() {
        double x = 1;
        for (int i = 0; i < 20000; i++) {
            x += SHAPES[i & 3].area(x % 100);
        }
        sink += (long) x;
    }

    public static int target(int a, String b) {
        return a + b.length();
    }

    /** Found out by the processor: the VM's signal handler runs on top of these. */
    static void faults(int[] nothing, int zero) {
        for (int i = 0; i < 200; i++) {
            try {
                sink += nothing[i];
            } catch (NullPointerException e) {
                sink += 2;
            }
            try {
                sink += i / zero;
            } catch (ArithmeticException e) {
                sink += 3;
            }
        }
    }

    static boolean isEven(int a, String b) {
        return a % 2 == 0;
    }

    static int negate(int a) {
        return -a;
    }

    /** Handles of handles: each step is a hidden frame or an adapter. */
    static MethodHandle chain(MethodHandle target) throws Exception {
        MethodHandles.Lookup here = MethodHandles.lookup();
        MethodHandle test = here.findStatic(Hostile.class, "isEven",
                MethodType.methodType(boolean.class, int.class, String.class));
        MethodHandle negate = here.findStatic(Hostile.class, "negate",
                MethodType.methodType(int.class, int.class));
        MethodHandle h = MethodHandles.filterReturnValue(target, negate);
        h = MethodHandles.guardWithTest(test, h, target);
        h = MethodHandles.filterArguments(h, 0, negate);
        h = MethodHandles.insertArguments(h, 1, "abc");
        h = MethodHandles.dropArguments(h, 1, String.class);
        return h.asType(MethodType.methodType(Object.class, Integer.class, String.class))
                .asType(MethodType.methodType(int.class, int.class, String.class));
    }

    static void callbacks() {
        for (int i = 0; i < 20; i++) {
            sink += Callbacks.work(i % 2 == 0, i % 5);
        }
    }

    static void handles(MethodHandle handle, Method method) throws Throwable {
        int s = 0;
        for (int i = 0; i < 2000; i++) {
            s += (int) handle.invokeExact(i, "x");
        }
        for (int i = 0; i < 500; i++) {
            s += (Integer) method.invoke(null, i, "abc");
        }
        sink += s;
    }

    static void collections() {
        Integer[] a = new Integer[3000];
        for (int i = 0; i < a.length; i++) {
            a[i] = i * 7919 % 3001;
        }
        Arrays.sort(a, (p, q) -> p - q);
        TreeMap<String, Integer> t = new TreeMap<>();
        List<byte[]> l = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            t.put("k" + i, i);
            l.add(new byte[1000 + i * 10]);
        }
        sink += t.size() + l.size();
    }

    static void locks(ReentrantLock lock) {
        for (int i = 0; i < 2000; i++) {
            lock.lock();
            try {
                sink++;
            } finally {
                lock.unlock();
            }
            synchronized (SHAPES) {
                sink++;
            }
        }
    }

    static void digest() throws Exception {
        java.security.MessageDigest d = java.security.MessageDigest.getInstance("SHA-256");
        byte[] b = new byte[4000];
        for (int i = 0; i < 20; i++) {
            sink += d.digest(b)[0];
        }
    }

    static byte[] code(String resource) throws Exception {
        try (InputStream in = Hostile.class.getResourceAsStream(resource)) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] part = new byte[4096];
            for (int n; (n = in.read(part)) > 0; ) {
                out.write(part, 0, n);
            }
            return out.toByteArray();
        }
    }

    static void once(int number, byte[] payload, MethodHandle handle, Method method,
            ReentrantLock lock) throws Throwable {
        deflate();
        copy();
        strings();
        exceptions();
        sink += deep(2000);
        megamorphic();
        handles(handle, method);
        faults(null, 0);
        if (CALLS_C) {
            callbacks();
        }
        collections();
        locks(lock);
        digest();
        ((Runnable) new Loader().define(payload).getDeclaredConstructor().newInstance()).run();
        if (number == 1) {
            Thread t = new Thread(() -> sink++, "short-lived");
            t.start();
            t.join();
        }
    }

    public static void main(String[] args) throws Throwable {
        MethodType type = MethodType.methodType(int.class, int.class, String.class);
        MethodHandle handle = chain(
                MethodHandles.lookup().findStatic(Hostile.class, "target", type));
        Method method = Hostile.class.getMethod("target", int.class, String.class);
        byte[] payload = code("Hostile$Payload.class");
        ReentrantLock lock = new ReentrantLock();
        for (int i = 0; i < 3; i++) {
            int number = i;
            Thread t = new Thread(() -> {
                try {
                    while (true) {
                        once(number, payload, handle, method, lock);
                    }
                } catch (Throwable e) {
                    e.printStackTrace();
                    System.exit(1);
                }
            }, "hostile-" + i);
            t.setDaemon(true);
            t.start();
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
