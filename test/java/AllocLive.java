import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;

/**
 * Keeps some of what it allocates. "grow N": N objects of each class, of which it keeps Leaked and
 * Dropped; "drop": lets go of the Dropped ones; "gc". Each answers with "."; "grow" with the bytes
 * of a class's objects before that.
 */
public class AllocLive {
    static final class Leaked {
        final byte[] room = null;
        long a, b, c, d, e, f, g, h, i, j, k, l;
    }

    static final class Dropped { // as large as the others
        final byte[] room = null;
        long a, b, c, d, e, f, g, h, i, j, k, l;
    }

    static final class Garbage {
        final byte[] room = null;
        long a, b, c, d, e, f, g, h, i, j, k, l;
    }

    static final List<Object> leaked = new ArrayList<>(1 << 20);
    static final List<Object> dropped = new ArrayList<>(1 << 20);
    static volatile Object sink;

    static void grow(int n) {
        for (int i = 0; i < n; i++) {
            leaked.add(new Leaked());
            dropped.add(new Dropped());
            for (int k = 0; k < 5; k++)
                sink = new Garbage();
        }
    }

    static long size() {
        ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        bean.getThreadAllocatedBytes(self);
        long before = bean.getThreadAllocatedBytes(self);
        for (int k = 0; k < 20000; k++)
            sink = new Leaked();
        return (bean.getThreadAllocatedBytes(self) - before) / 20000 / 8 * 8;
    }

    public static void main(String[] args) {
        long size = size();
        System.out.println("ready");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            String[] word = in.nextLine().split(" ");
            if (word[0].equals("grow")) {
                grow(Integer.parseInt(word[1]));
                System.out.println(size * Integer.parseInt(word[1]));
            } else if (word[0].equals("drop")) {
                dropped.clear();
            } else {
                System.gc();
            }
            System.out.println(".");
        }
    }
}
