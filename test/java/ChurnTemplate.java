/**
 * Churn loads copies of this class with the digits in its names replaced: T00000 by T00042, and so
 * on, in the class's and in both methods' names. In a true stack the three numbers are the same.
 */
public class ChurnTemplate {
    public static class T00000 implements Runnable {
        static volatile long sink;

        @Override
        public void run() {
            outer00000();
        }

        static void outer00000() {
            long end = System.nanoTime() + 5000000;
            while (System.nanoTime() < end) {
                sink = inner00000(sink);
            }
        }

        static long inner00000(long x) {
            x |= 1;
            for (int i = 0; i < 2000; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }
    }
}
