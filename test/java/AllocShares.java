import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Scanner;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Allocates objects of known classes and sizes, in an order that does not repeat.
 *
 * <p>"run THREADS OBJECTS LARGE": so many threads make so many objects each, LARGE of 100,000 of
 * them larger than a thread's buffer. Answers with "BYTES CLASS" a line when they have; "." ends.
 */
public class AllocShares {
    static final class Small {
        long a, b;
    }

    static final class Middle {
        long a, b, c, d, e, f, g, h, i, j, k, l, m;
    }

    static final String[] NAMES = {
        "AllocShares$Small", "AllocShares$Middle", "int[]", "java/lang/Object[]", "byte[]",
    };
    static final int KINDS = NAMES.length;
    static final int OF = 100000;

    static volatile Object sink;

    static Object small() {
        return new Small();
    }

    static Object middle() {
        return new Middle();
    }

    /* Lengths that are not constant: a method whose body is trivial is never compiled by C2. */
    static Object ints(int n) {
        return new int[n];
    }

    static Object objects(int n) {
        return new Object[n];
    }

    static Object bytes(int n) {
        return new byte[n];
    }

    static Object make(int kind, int few) {
        switch (kind) {
        case 0:
            return small();
        case 1:
            return middle();
        case 2:
            return ints(250 + few);
        case 3:
            return objects(500 + few);
        default:
            return bytes(2000000);
        }
    }

    static final class Maker extends Thread {
        final long[] made = new long[KINDS];
        final int[] until;
        final long objects;

        Maker(long objects, int[] until) {
            this.objects = objects;
            this.until = until;
        }

        @Override
        public void run() {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            for (long i = 0; i < objects; i++) {
                int r = random.nextInt(OF);
                int kind = 0;
                while (r >= until[kind])
                    kind++;
                sink = make(kind, 0);
                made[kind]++;
            }
        }
    }

    /* Bytes of an object of this kind, as the VM lays it out; what asking for them takes is less
     * than the eight that all sizes are multiples of. */
    static long size(int kind) {
        ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        int n = kind == KINDS - 1 ? 4 : 20000;
        bean.getThreadAllocatedBytes(self);
        long before = bean.getThreadAllocatedBytes(self);
        for (int k = 0; k < n; k++)
            sink = make(kind, 0);
        return (bean.getThreadAllocatedBytes(self) - before) / n / 8 * 8;
    }

    static long[] run(int threads, long objects, int large) throws InterruptedException {
        int rest = OF - large;
        int[] until = {rest * 70 / 100, rest * 90 / 100, rest * 97 / 100, rest, OF};
        long[] made = new long[KINDS];
        Maker[] makers = new Maker[threads];
        for (int i = 0; i < threads; i++) {
            makers[i] = new Maker(objects, until);
            makers[i].start();
        }
        for (Maker m : makers) {
            m.join();
            for (int kind = 0; kind < KINDS; kind++)
                made[kind] += m.made[kind];
        }
        return made;
    }

    public static void main(String[] args) throws InterruptedException {
        long[] size = new long[KINDS];
        for (int kind = 0; kind < KINDS; kind++)
            size[kind] = size(kind);
        run(2, 200000, 10); /* until all is compiled */
        System.out.println("ready");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            String[] word = in.nextLine().split(" ");
            long[] made =
                run(Integer.parseInt(word[1]), Long.parseLong(word[2]), Integer.parseInt(word[3]));
            for (int kind = 0; kind < KINDS; kind++)
                System.out.println(made[kind] * size[kind] + " " + NAMES[kind]);
            System.out.println(".");
        }
    }
}
