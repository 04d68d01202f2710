import java.util.Scanner;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads in each of the four states, which stay in them until a line is read: "run" makes "waits"
 * run, "wait" makes it wait again. Prints "ready" once all of them are in their states.
 */
public class ThreadStates {
    /** A name of 60 characters. Its thread never runs. */
    static final String LONG = "invoice-archive-writer-that-has-a-name-of-sixty-characters-1";

    static final Object LOCK = new Object(), CALL = new Object();
    static volatile boolean runs;
    static volatile long sink;

    static void start(String name, Thread.State state, Runnable body) throws InterruptedException {
        Thread t = new Thread(body, name);
        t.setDaemon(true);
        t.start();
        while (t.getState() != state)
            Thread.sleep(1);
    }

    static void sleep() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void waitAndRun() {
        try {
            while (true) {
                synchronized (CALL) {
                    while (!runs)
                        CALL.wait();
                }
                while (runs)
                    sink++;
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        start("spins", Thread.State.RUNNABLE, () -> {
            while (true)
                sink++;
        });
        synchronized (LOCK) {
            start("blocks", Thread.State.BLOCKED, () -> {
                synchronized (LOCK) {
                    sink++;
                }
            });
            start("waits", Thread.State.WAITING, ThreadStates::waitAndRun);
            start("sleeps", Thread.State.TIMED_WAITING, ThreadStates::sleep);
            start(LONG, Thread.State.TIMED_WAITING, ThreadStates::sleep);
            for (int i = 0; i < 12; i++)
                start("pool-worker-" + i, Thread.State.WAITING, LockSupport::park);
            for (int i = 12; i < 15; i++)
                start("pool-worker-" + i, Thread.State.TIMED_WAITING, ThreadStates::sleep);
            System.out.println("ready");
            Scanner in = new Scanner(System.in);
            while (in.hasNextLine()) {
                synchronized (CALL) {
                    runs = in.nextLine().equals("run");
                    CALL.notifyAll();
                }
            }
        }
    }
}
