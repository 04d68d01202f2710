import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Waits for locks of every kind, and measures them itself. Prints "ready", then answers lines:
 *
 * <pre>
 *   contend KIND,… platform|virtual ROUNDS   of each kind one thread holds the lock for ROUNDS
 *                                            times 3 ms, WAITERS others want it
 *   alone KIND,… platform|virtual ROUNDS     the same threads, and each has a lock of its own
 * </pre>
 *
 * with a "KIND NS" each, the time that the waiters took to get it, and ".". Ends with its input.
 */
public final class LockWaits {
    static final int WAITERS = 3;
    static final int HOLD_MS = 3;

    interface Guard {
        void take() throws InterruptedException;

        void give();
    }

    /** A lock to hold, and to wait for. */
    static final class Pair {
        final Guard held;
        final Guard wanted;

        Pair(Guard held, Guard wanted) {
            this.held = held;
            this.wanted = wanted;
        }
    }

    static final class Shelf {
    }

    static Guard guard(Lock lock) {
        return new Guard() {
            public void take() {
                lock.lock();
            }

            public void give() {
                lock.unlock();
            }
        };
    }

    static Guard guard(Semaphore semaphore) {
        return new Guard() {
            public void take() throws InterruptedException {
                semaphore.acquire();
            }

            public void give() {
                semaphore.release();
            }
        };
    }

    static Pair pair(String kind) {
        if (kind.equals("reentrant")) {
            Guard g = guard(new ReentrantLock());
            return new Pair(g, g);
        }
        if (kind.equals("semaphore")) {
            Guard g = guard(new Semaphore(1));
            return new Pair(g, g);
        }
        ReentrantReadWriteLock both = new ReentrantReadWriteLock();
        Guard write = guard(both.writeLock());
        return new Pair(write, kind.equals("read") ? guard(both.readLock()) : write);
    }

    static void sleep(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What the owner is doing: the frame to look for. */
    static void hold() {
        sleep(HOLD_MS);
    }

    static void holdMonitor(Object shelf, int rounds) {
        for (int i = 0; i < rounds; i++) {
            synchronized (shelf) {
                hold();
            }
            sleep(1);
        }
    }

    static void holdLock(Guard guard, int rounds) throws InterruptedException {
        for (int i = 0; i < rounds; i++) {
            guard.take();
            hold();
            guard.give();
            sleep(1);
        }
    }

    static volatile int sink;

    static long wantMonitor(Object shelf) {
        long before = System.nanoTime();
        synchronized (shelf) {
            sink++;
            return System.nanoTime() - before;
        }
    }

    static long wantLock(Guard guard) throws InterruptedException {
        long before = System.nanoTime();
        guard.take();
        long waited = System.nanoTime() - before;
        guard.give();
        return waited;
    }

    interface Body {
        void run() throws Exception;
    }

    static Thread start(String name, boolean isVirtual, Body body) throws Exception {
        Runnable run = () -> {
            try {
                body.run();
            } catch (Exception e) {
                e.printStackTrace();
            }
        };
        if (isVirtual) {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            type.getMethod("name", String.class).invoke(builder, name);
            return (Thread) type.getMethod("start", Runnable.class).invoke(builder, run);
        }
        Thread t = new Thread(run, name);
        t.start();
        return t;
    }

    static long measure(String kind, boolean isVirtual, int rounds, boolean contend)
            throws Exception {
        boolean isMonitor = kind.equals("monitor");
        Shelf shelf = new Shelf();
        Pair pair = isMonitor ? null : pair(kind);
        AtomicLong waited = new AtomicLong();
        CountDownLatch over = new CountDownLatch(1);
        List<Thread> waiters = new ArrayList<>();
        Thread holder = start("holder-" + kind, isVirtual, () -> {
            if (isMonitor) {
                holdMonitor(shelf, rounds);
            } else {
                holdLock(pair.held, rounds);
            }
            over.countDown();
        });
        for (int i = 0; i < WAITERS; i++) {
            Shelf ownShelf = contend ? shelf : new Shelf();
            Guard own = isMonitor ? null : contend ? pair.wanted : pair(kind).wanted;
            waiters.add(start("waiter-" + kind, isVirtual, () -> {
                while (over.getCount() > 0) {
                    waited.addAndGet(isMonitor ? wantMonitor(ownShelf) : wantLock(own));
                    sleep(1);
                }
            }));
        }
        holder.join();
        for (Thread waiter : waiters) {
            waiter.join();
        }
        return waited.get();
    }

    static void measureAll(String[] kinds, boolean isVirtual, int rounds, boolean contend)
            throws Exception {
        List<Thread> all = new ArrayList<>();
        long[] waited = new long[kinds.length];
        for (int i = 0; i < kinds.length; i++) {
            int at = i;
            all.add(start("measure-" + kinds[i], false,
                          () -> waited[at] = measure(kinds[at], isVirtual, rounds, contend)));
        }
        for (int i = 0; i < kinds.length; i++) {
            all.get(i).join();
            System.out.println(kinds[i] + " " + waited[i]);
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null;) {
            String[] word = line.split(" ");
            measureAll(word[1].split(","), word[2].equals("virtual"), Integer.parseInt(word[3]),
                       word[0].equals("contend"));
            System.out.println(".");
        }
    }
}
