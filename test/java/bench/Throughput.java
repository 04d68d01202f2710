package bench;

/**
 * Work that counts itself: a thread computes at the end of stacks of up to sixty frames. Each line
 * of input is answered by the number of units done so far, then "."; ends with its input.
 */
public final class Throughput {
    static volatile long units;
    static volatile long sink;

    static long work(int more, long x) {
        if (more > 0) {
            return (more & 1) == 0 ? work(more - 1, x + more) : other(more - 1, x ^ more);
        }
        for (int i = 0; i < 2000; i++) {
            x = Walk.mix(x);
        }
        return x;
    }

    static long other(int more, long x) {
        return work(more, x) + 1;
    }

    public static void main(String[] args) throws Exception {
        Thread thread = new Thread(() -> {
            long x = 88172645463325252L;
            while (true) {
                for (int depth = 0; depth < 60; depth += 4) {
                    x = work(depth, x);
                }
                sink = x;
                units++;
            }
        }, "work");
        thread.setDaemon(true);
        thread.start();
        System.out.println("ready");
        for (int c; (c = System.in.read()) >= 0; ) {
            if (c == '\n') {
                System.out.println("units " + units + "\n.");
            }
        }
    }
}
