import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that run and sleep in known shares, and threads that wait, each in its own way.
 *
 *   java Wall MIXED PERCENT IDLE
 *
 * MIXED threads "mixed-N" run for a part of their time, all together PERCENT of one processor: each
 * of the first ten takes as much as all of the others. IDLE threads "idle-N" sleep all the time.
 * "wait-park", "wait-sleep" and so on wait as they are called.
 * stdin, each answered with ".": "truth" (lines "NAME RUN-NS SLEEP-NS", one a mixed thread, before
 * it), "collect" (garbage, five times), "virtual" (starts three virtual threads that run); end of
 * input ends all.
 */
public final class Wall {
    static volatile long sink;
    static AtomicLongArray run, slept;
    static ServerSocket server; // else a collection closes it

    static long burn(long ns) {
        long x = ns + 1;
        for (long end = System.nanoTime() + ns; System.nanoTime() < end; )
            for (int i = 0; i < 200; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
        return x;
    }

    static void rest(long ms) throws InterruptedException {
        Thread.sleep(ms);
    }

    interface Body {
        void run() throws Exception;
    }

    static Thread start(String name, Body body) {
        Thread t = new Thread(null, () -> {
            try {
                body.run();
            } catch (Exception e) {
                e.printStackTrace();
            }
        }, name, 256 << 10);
        t.setDaemon(true);
        t.start();
        return t;
    }

    /** Runs a share of the time: how long it really took to run and to sleep is what counts. */
    static void mix(int number, double share) throws InterruptedException {
        long cycle = 23_000_000L + 1_700_000L * (number % 13);
        long runNs = (long) (cycle * share);
        if (runNs < 100_000) { // so short that the clock would be all of it
            cycle = (long) (100_000 / share);
            runNs = 100_000;
        }
        Thread.sleep(number % 97);
        while (true) {
            long a = System.nanoTime();
            sink = burn(runNs);
            long b = System.nanoTime();
            rest(Math.max(1, (cycle - runNs) / 1_000_000));
            run.addAndGet(number, b - a);
            slept.addAndGet(number, System.nanoTime() - b);
        }
    }

    static void waiters() throws Exception {
        final Object waited = new Object();
        server = new ServerSocket(0, 9, InetAddress.getLoopbackAddress());
        final Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        final Selector selector = Selector.open();
        start("wait-sleep", () -> Thread.sleep(Long.MAX_VALUE));
        start("wait-park", () -> {
            while (true)
                LockSupport.park(waited);
        });
        start("wait-object", () -> {
            synchronized (waited) {
                while (true)
                    waited.wait();
            }
        });
        start("wait-socket", () -> client.getInputStream().read());
        start("wait-poll", () -> selector.select());
        final ServerSocket deserted = new ServerSocket(0, 9, InetAddress.getLoopbackAddress());
        start("wait-accept", () -> deserted.accept());
    }

    static void monitor() {
        final Object held = new Object();
        start("wait-owner", () -> {
            synchronized (held) {
                Thread.sleep(Long.MAX_VALUE);
            }
        });
        start("wait-monitor", () -> {
            Thread.sleep(300);
            synchronized (held) {
                sink++;
            }
        });
    }

    /** What JDK 8 does not know. */
    static void startVirtual() throws Exception {
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) () -> {
            while (true) {
                sink = burn(4_000_000);
                try {
                    rest(20);
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
    }

    public static void main(String[] args) throws Exception {
        int mixed = Integer.parseInt(args[0]);
        double all = Double.parseDouble(args[1]) / 100;
        int idle = Integer.parseInt(args[2]);
        run = new AtomicLongArray(mixed);
        slept = new AtomicLongArray(mixed);
        double one = all / 11;
        List<String> names = new ArrayList<>();
        for (int i = 0; i < mixed; i++) {
            final int number = i;
            final double share = mixed <= 10 ? all / mixed : i < 10 ? one : one / (mixed - 10);
            names.add("mixed-" + i);
            start("mixed-" + i, () -> mix(number, share));
        }
        for (int i = 0; i < idle; i++)
            start("idle-" + i, () -> Thread.sleep(Long.MAX_VALUE));
        waiters();
        monitor();
        Thread.sleep(1500);
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            if (line.equals("truth"))
                for (int i = 0; i < mixed; i++)
                    System.out.println(names.get(i) + " " + run.get(i) + " " + slept.get(i));
            if (line.equals("collect"))
                for (int i = 0; i < 5; i++)
                    System.gc();
            if (line.equals("virtual"))
                for (int i = 0; i < 3; i++)
                    startVirtual();
            System.out.println(".");
            System.out.flush();
        }
        System.exit(0);
    }
}
