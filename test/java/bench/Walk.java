package bench;

/**
 * A stack of sixty frames that is interrupted again and again: walk_probe.c takes the time of each
 * walk. Of the frames some are inlined, once or twice, and some are not.
 *
 *   java bench.Walk LIBRARY
 */
public final class Walk {
    static final int DEPTH = 60;
    static final int WANTED = 4000;
    static volatile long sink;

    /** Four implementations keep the calls from being inlined all into one. */
    interface Step {
        /** Calls on until `more` frames stand, then works until it has been interrupted enough. */
        long go(int more, long x);
    }

    static final class Direct implements Step {
        public long go(int more, long x) {
            return more <= 1 ? leaf(x) : next(more - 1).go(more - 1, x) + 1;
        }
    }

    static final class Once implements Step {
        public long go(int more, long x) {
            return more <= 2 ? leaf(x) : hop(more - 1, x) + 2;
        }
    }

    static final class Twice implements Step {
        public long go(int more, long x) {
            return more <= 3 ? leaf(x) : hopHop(more - 1, x) + 3;
        }
    }

    static final class OnceMore implements Step {
        public long go(int more, long x) {
            return more <= 2 ? leaf(x) : hop(more - 1, x ^ 7) + 4;
        }
    }

    static final Step[] STEPS = {new Direct(), new Once(), new Twice(), new OnceMore()};

    static Step next(int more) {
        return STEPS[more & 3];
    }

    static long hop(int more, long x) {
        return next(more - 1).go(more - 1, x + 1);
    }

    static long hopHop(int more, long x) {
        return hop(more - 1, x) * 3;
    }

    static boolean inNative;

    static long leaf(long x) {
        if (inNative) {
            raiseSignals(50);
            return x;
        }
        for (int i = 0; i < 300000; i++) {
            x = mix(x);
        }
        return x;
    }

    static long mix(long x) {
        x ^= x << 13;
        x ^= x >>> 7;
        return x ^ x << 17;
    }

    /** Makes the agent sample in this JVM; an error, or null. */
    static native String begin();

    /** Walks are measured from here on, of the calling thread, and only those of `depth` frames. */
    static native void measure(int depth, boolean signalsFromOutside);

    /** How many have been. */
    static native int measured();

    /** Ends the measurement; a row of figures. */
    static native String figures();

    static native void raiseSignals(int n);

    static void run(String what, boolean fromNative) {
        inNative = fromNative;
        measure(DEPTH, !fromNative);
        long end = System.nanoTime() + 60_000_000_000L;
        while (measured() < WANTED && System.nanoTime() < end) {
            sink += next(DEPTH - 2).go(DEPTH - 2, sink);
        }
        System.out.println(String.format("  %-34s %s", what, figures()));
    }

    public static void main(String[] args) {
        System.load(args[0]);
        String error = begin();
        if (error != null) {
            System.err.println(error);
            System.exit(1);
        }
        for (int i = 0; i < 3000; i++) { // until it is compiled
            sink += next(DEPTH - 2).go(DEPTH - 2, sink);
        }
        run(args[1] + ", interrupted in Java", false);
        run(args[1] + ", interrupted in C", true);
    }
}
