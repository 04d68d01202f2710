import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads in every state that a thread dump has: two deadlocks (of monitors, and of locks of
 * java.util.concurrent), a thread that waits for a monitor of another, and threads that wait,
 * sleep, park and run. Prints "ready" when all are where they belong; ends with its input.
 */
public final class Stuck {
    static final class Shelf {
    }

    static final Object A = new Shelf();
    static final Object B = new Shelf();
    static final Object HELD = new Object();
    static final Lock ONE = new ReentrantLock();
    static final Lock TWO = new ReentrantLock();
    static volatile long burnt;

    static Thread start(String name, Runnable work) {
        Thread t = new Thread(work, name);
        t.setDaemon(true);
        t.start();
        return t;
    }

    static void meet(CountDownLatch both) {
        both.countDown();
        try {
            both.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void monitors(Object first, Object second, CountDownLatch both) {
        synchronized (first) {
            meet(both);
            synchronized (second) {
                burnt++;
            }
        }
    }

    static void locks(Lock first, Lock second, CountDownLatch both) {
        first.lock();
        meet(both);
        second.lock();
    }

    static void hold(CountDownLatch held) {
        synchronized (HELD) {
            held.countDown();
            sleep();
        }
    }

    static void want() {
        synchronized (HELD) {
            burnt++;
        }
    }

    static void sleep() {
        try {
            Thread.sleep(10_000_000);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void await() {
        Object o = new Shelf();
        synchronized (o) {
            try {
                o.wait();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static void spin() {
        while (true) {
            burnt++;
            if (burnt % 1_000_000 == 0)
                Thread.yield();
        }
    }

    static void reach(Thread t, Thread.State state) throws InterruptedException {
        while (t.getState() != state)
            Thread.sleep(10);
    }

    public static void main(String[] args) throws Exception {
        CountDownLatch ab = new CountDownLatch(2);
        CountDownLatch oneTwo = new CountDownLatch(2);
        CountDownLatch held = new CountDownLatch(1);
        Thread a = start("mon-1", () -> monitors(A, B, ab));
        Thread b = start("mon-2", () -> monitors(B, A, ab));
        Thread one = start("lock-1", () -> locks(ONE, TWO, oneTwo));
        Thread two = start("lock-2", () -> locks(TWO, ONE, oneTwo));
        start("worker-3", () -> hold(held));
        held.await();
        Thread wanting = start("worker-4", Stuck::want);
        Thread waiting = start("waiter \"of\" \u00e4", Stuck::await);
        Thread parked = start("parked", LockSupport::park);
        start("spinner", Stuck::spin);
        reach(a, Thread.State.BLOCKED);
        reach(b, Thread.State.BLOCKED);
        reach(one, Thread.State.WAITING);
        reach(two, Thread.State.WAITING);
        reach(wanting, Thread.State.BLOCKED);
        reach(waiting, Thread.State.WAITING);
        reach(parked, Thread.State.WAITING);
        System.out.println("ready");
        System.in.read();
    }
}
