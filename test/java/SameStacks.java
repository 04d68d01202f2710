/**
 * Two threads with deep stacks that differ in one frame only, from some milliseconds to the next: in
 * the place where a method calls, or in the method. All other frames stand where they stood before.
 * The innermost method says which stack it is. End of input ends it.
 */
public final class SameStacks {
    static final int DEPTH = 40;
    static final long BUSY_NS = 4000000;
    static volatile long sink;

    interface Way {
        void go(int more, boolean first);
    }

    static final class One implements Way {
        @Override
        public void go(int more, boolean first) {
            down(more, first);
        }
    }

    static final class Two implements Way {
        @Override
        public void go(int more, boolean first) {
            down(more, first);
        }
    }

    static void busy() {
        long x = sink;
        for (long end = System.nanoTime() + BUSY_NS; System.nanoTime() < end;) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        sink = x;
    }

    static void first() {
        busy();
    }

    static void second() {
        busy();
    }

    static void down(int more, boolean first) {
        if (more > 0) {
            down(more - 1, first);
        } else if (first) {
            first();
        } else {
            second();
        }
    }

    static void places() {
        down(DEPTH, true);
        down(DEPTH, false);
    }

    static void methods(Way one, Way two) {
        Way[] all = {one, two};
        for (Way way : all) {
            way.go(DEPTH, way == one);
        }
    }

    static void start(String name, Runnable loop) {
        Thread t = new Thread(() -> {
            for (;;) {
                loop.run();
            }
        }, name);
        t.setDaemon(true);
        t.start();
    }

    public static void main(String[] args) throws Exception {
        start("places", SameStacks::places);
        Way one = new One();
        Way two = new Two();
        start("methods", () -> methods(one, two));
        System.out.println("ready");
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
