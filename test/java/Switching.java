import java.lang.reflect.Method;
import java.util.concurrent.SynchronousQueue;

/**
 * Virtual threads that do nothing but hand each other a token, so that they are mounted and
 * unmounted all the time; on stacks of some depth. Prints "ready", or "none" before JDK 21; ends
 * with its input.
 */
public final class Switching {
    static volatile int sink;

    static void hand(int depth, SynchronousQueue<Integer> queue, boolean gives) throws Exception {
        if (depth > 0) {
            hand(depth - 1, queue, gives);
            return;
        }
        while (true) {
            if (gives) {
                queue.put(1);
            } else {
                sink += queue.take();
            }
        }
    }

    static void begin(Method start, int depth, SynchronousQueue<Integer> queue, boolean gives)
            throws Exception {
        start.invoke(null, (Runnable) () -> {
            try {
                hand(depth, queue, gives);
            } catch (Exception e) {
                e.printStackTrace();
            }
        });
    }

    public static void main(String[] args) throws Exception {
        Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            start = null;
        }
        for (int i = 0; start != null && i < 20; i++) {
            SynchronousQueue<Integer> queue = new SynchronousQueue<>();
            begin(start, i % 10 * 5, queue, true);
            begin(start, i % 10 * 5, queue, false);
        }
        System.out.println("ready");
        System.out.println(start == null ? "none" : "switching");
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
