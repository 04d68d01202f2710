package bench;

/**
 * A service that is idle most of the time, for the cost of profiling many of them: a few threads
 * each wake up ten times a second and compute for part of a millisecond at the end of stacks of up
 * to forty frames. Ends with its input.
 *
 *   java bench.Service [THREADS [MICROSECONDS]]
 */
public final class Service {
    static volatile long sink;

    static long work(int more, long x, long until) {
        if (more > 0) {
            return (more & 1) == 0 ? work(more - 1, x + more, until) : other(more - 1, x ^ more, until);
        }
        do {
            for (int i = 0; i < 100; i++) {
                x = Walk.mix(x);
            }
        } while (System.nanoTime() < until);
        return x;
    }

    static long other(int more, long x, long until) {
        return work(more, x, until) + 1;
    }

    public static void main(String[] args) throws Exception {
        int threads = args.length > 0 ? Integer.parseInt(args[0]) : 2;
        long ns = 1000L * (args.length > 1 ? Long.parseLong(args[1]) : 200);
        for (int n = 0; n < threads; n++) {
            int depth = 10 * (n % 4 + 1);
            Thread thread = new Thread(() -> {
                try {
                    while (true) {
                        Thread.sleep(100);
                        sink = work(depth, sink, System.nanoTime() + ns);
                    }
                } catch (InterruptedException e) {
                    // it ends
                }
            }, "service-" + n);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // nobody says anything
        }
    }
}
