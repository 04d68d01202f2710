import java.io.File;

/**
 * Java calls C, which calls Java, which calls C (native/callback.c): once with C code that has
 * frame pointers, once without.
 *
 *   java Callbacks fp|plain
 *
 * burns CPU time at the end of main, call, C, back, burn, C. Prints "ready"; ends with its input.
 */
public final class Callbacks {
    static final long ROUNDS = 20000;

    static native long callFp(int depth);

    static native long burnFp(long rounds);

    static native long callPlain(int depth);

    static native long burnPlain(long rounds);

    static long backFp(int depth) {
        return depth > 0 ? callFp(depth - 1) + 1 : burnFp(ROUNDS) + 1;
    }

    static long backPlain(int depth) {
        return depth > 0 ? callPlain(depth - 1) + 1 : burnPlain(ROUNDS) + 1;
    }

    /** False where the libraries have not been built. */
    static boolean load() {
        File directory = new File(System.getProperty("java.class.path"));
        File fp = new File(directory, "libcallback-fp.so");
        File plain = new File(directory, "libcallback-plain.so");
        if (!fp.exists() || !plain.exists()) {
            return false;
        }
        System.load(fp.getAbsolutePath());
        System.load(plain.getAbsolutePath());
        return true;
    }

    static long work(boolean plain, int depth) {
        return plain ? callPlain(depth) + 1 : callFp(depth) + 1;
    }

    public static void main(String[] args) {
        boolean plain = args[0].equals("plain");
        if (!load()) {
            System.exit(2);
        }
        Thread end = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    continue;
                }
            } catch (java.io.IOException e) {
                e.printStackTrace();
            }
            System.exit(0);
        });
        end.setDaemon(true);
        end.start();
        System.out.println("ready");
        long sum = 0;
        while (sum != 1) {
            sum += work(plain, 1);
        }
    }
}
