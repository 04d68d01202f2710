import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Methods that are called a known number of times, by known paths, for known times.
 *
 *   calls A B      calls target A times from one() and B times from two(); answers "ns N"
 *   throws N       calls thrower N times, which throws every second time
 *   deep N         a recursion of N calls of deep
 *   fast N         calls fast N times; answers "ns N"
 *   loops N        calls loop N times, which is compiled while it runs, with fast inlined in it; and
 *                  Failing, whose constructor throws, as often
 *   map N          puts N numbers into a HashMap
 *   late N         calls a method of a class that was not loaded before
 *   virtual N      calls target N times in virtual threads (JDK 21 and later), one each
 *
 * Prints "ready"; every command is answered with "."; ends with its input.
 */
public final class MethodCalls {
    static volatile long sink;

    static long target(long ns) {
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < ns) {
            sink++;
        }
        return System.nanoTime() - begin;
    }

    static long one(long n) {
        long sum = 0;
        for (long i = 0; i < n; i++) {
            sum += target(200000);
        }
        return sum;
    }

    static long two(long n) {
        long sum = 0;
        for (long i = 0; i < n; i++) {
            sum += target(400000);
        }
        return sum;
    }

    static int thrower(long i) {
        if (i % 2 == 0) {
            throw new IllegalStateException();
        }
        return 1;
    }

    static long deep(long n) {
        return n <= 1 ? 1 : deep(n - 1) + 1;
    }

    static long fast(long i) {
        return i * 31 + sink;
    }

    static final class Failing {
        Failing(long n) {
            if (n >= 0) {
                throw new IllegalArgumentException();
            }
        }
    }

    static long loop(long n) {
        long sum = 0;
        for (long i = 0; i < 200000; i++) {
            sum += fast(i);
        }
        for (long i = 0; i < 200; i++) {
            try {
                new Failing(i);
            } catch (IllegalArgumentException e) {
                sum++;
            }
        }
        return sum + n;
    }

    static void map(long n) {
        java.util.HashMap<Long, Long> m = new java.util.HashMap<>();
        for (long i = 0; i < n; i++) {
            m.put(i, i);
        }
        sink += m.size();
    }

    /** Loaded when it is first needed. */
    static final class Late {
        static int called(int switched) {
            switch (switched) {
                case 0:
                    return 7;
                case 1:
                    return 8;
                default:
                    return switched > 100 ? 9 : 10;
            }
        }
    }

    static void virtual(long n) throws Exception {
        java.lang.reflect.Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        for (long i = 0; i < n; i++) {
            Thread t = (Thread) start.invoke(null, (Runnable) () -> one(1));
            t.join();
        }
    }

    static void obey(String[] words) throws Exception {
        long n = Long.parseLong(words[1]);
        long sum = 0;
        switch (words[0]) {
            case "calls":
                System.out.println("ns " + (one(n) + two(Long.parseLong(words[2]))));
                break;
            case "throws":
                for (long i = 0; i < n; i++) {
                    try {
                        sum += thrower(i);
                    } catch (IllegalStateException e) {
                        sum++;
                    }
                }
                break;
            case "deep":
                sum += deep(n);
                break;
            case "loops":
                for (long i = 0; i < n; i++) {
                    sum += loop(i);
                }
                break;
            case "fast":
                long begin = System.nanoTime();
                for (long i = 0; i < n; i++) {
                    sum += fast(i);
                }
                System.out.println("ns " + (System.nanoTime() - begin));
                break;
            case "map":
                map(n);
                break;
            case "late":
                for (long i = 0; i < n; i++) {
                    sum += Late.called((int) i);
                }
                break;
            case "virtual":
                virtual(n);
                break;
            default:
                throw new IllegalArgumentException(words[0]);
        }
        sink += sum;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            obey(line.trim().split(" "));
            System.out.println(".");
        }
    }
}
