/**
 * Three methods that take turns, a few hundred microseconds each: parse and print always as long,
 * price as many times that as the argument says, in tenths.
 *
 *   java Slower 10     a third each
 *   java Slower 30     parse 20 %, price 60 %, print 20 %
 *
 * End of input ends the program.
 */
public final class Slower {
    static volatile long sink;

    interface Work {
        long run(long rounds, long x);
    }

    static final class Parse implements Work {
        public long run(long rounds, long x) {
            return parse(rounds, x);
        }

        static long parse(long rounds, long x) {
            for (long i = 0; i < rounds; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }
    }

    static final class Price implements Work {
        public long run(long rounds, long x) {
            return price(rounds, x);
        }

        static long price(long rounds, long x) {
            for (long i = 0; i < rounds; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }
    }

    static final class Print implements Work {
        public long run(long rounds, long x) {
            return print(rounds, x);
        }

        static long print(long rounds, long x) {
            for (long i = 0; i < rounds; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }
    }

    /** Slices of random length, so that they do not keep step with the samples. */
    static long turn(Work[] work, int tenths, long x) {
        for (int i = 0; i < work.length; i++) {
            long rounds = 100000 + (x >>> 1) % 100000;
            x += work[i].run(i == 1 ? rounds * tenths / 10 : rounds, x);
        }
        return x;
    }

    static void work(int tenths) {
        Work[] work = {new Parse(), new Price(), new Print()};
        long x = 88172645463325252L;
        for (int i = 0; i < 2000; i++) {
            x = turn(work, 10, x);
        }
        System.out.println("ready");
        System.out.flush();
        while (true) {
            x = turn(work, tenths, x);
            sink = x;
        }
    }

    public static void main(String[] args) throws Exception {
        final int tenths = Integer.parseInt(args[0]);
        Thread t = new Thread(() -> work(tenths), "shop");
        t.setDaemon(true);
        t.start();
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
