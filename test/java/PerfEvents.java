import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.SynchronousQueue;

/**
 * Does things that the kernel counts, a known number of times, in the thread "worker".
 *
 *   java PerfEvents FILE
 *
 * stdin: "yield N" calls sched_yield, "touch N" writes every page of a new mapping of FILE, which
 * is made 1024 pages long, "write N" writes eight bytes at the beginning of FILE's first mapping,
 * "sleep N" hands the processor over and back to another thread, "burn N" uses N ms of CPU time,
 * "system N" as much in the kernel. Each answers ".". End of input ends the program.
 */
public final class PerfEvents {
    static final int PAGE = 4096;
    static final int PAGES = 1024;
    static final SynchronousQueue<String> ORDERS = new SynchronousQueue<>();
    static final SynchronousQueue<String> DONE = new SynchronousQueue<>();
    static final Object TABLE = new Object();
    static volatile double sink;
    static boolean served;

    private static FileChannel channel;
    private static MappedByteBuffer cell;

    static void yields(int n) {
        for (int i = 0; i < n; i++) {
            Thread.yield();
        }
    }

    static void touch(int n) throws Exception {
        for (int k = 0; k < n; k++) {
            MappedByteBuffer fresh =
                channel.map(FileChannel.MapMode.READ_WRITE, 0, PAGES * PAGE);
            for (int i = 1; i < PAGES; i++) {
                fresh.put(i * PAGE, (byte) i);
            }
        }
    }

    /** The call in between keeps the compiler from merging the writes. */
    static void write(int n) {
        for (int i = 0; i < n; i++) {
            cell.putLong(0, i);
            Thread.yield();
        }
    }

    static void sleep(int n) throws Exception {
        for (int i = 0; i < n; i++) {
            play(true);
        }
    }

    /** One stroke of a match in which each side sleeps until the other one has had its turn. */
    static void play(boolean serve) throws InterruptedException {
        synchronized (TABLE) {
            while (served == serve) {
                TABLE.wait();
            }
            served = serve;
            TABLE.notify();
        }
    }

    static void burn(int ms) {
        long end = Shares.CLOCKS.getCurrentThreadCpuTime() + ms * 1000000L;
        while (Shares.CLOCKS.getCurrentThreadCpuTime() < end) {
            double x = 1;
            for (int i = 0; i < 20000; i++) {
                x = x * 1.000001 + 0.5;
            }
            sink = x;
        }
    }

    /** Reads are the kernel's work nearly all of the time. */
    static void system(int ms) throws Exception {
        ByteBuffer bytes = ByteBuffer.allocateDirect(1 << 20);
        long end = Shares.CLOCKS.getCurrentThreadCpuTime() + ms * 1000000L;
        try (FileChannel zero = new RandomAccessFile("/dev/zero", "r").getChannel()) {
            while (Shares.CLOCKS.getCurrentThreadCpuTime() < end) {
                bytes.clear();
                zero.read(bytes);
            }
        }
    }

    static void obey(String order) throws Exception {
        String[] words = order.split(" ");
        int n = Integer.parseInt(words[1]);
        switch (words[0]) {
            case "yield": yields(n); break;
            case "touch": touch(n); break;
            case "write": write(n); break;
            case "sleep": sleep(n); break;
            case "burn": burn(n); break;
            case "system": system(n); break;
            default: throw new IllegalArgumentException(order);
        }
    }

    static void start(String name, Runnable what) {
        Thread t = new Thread(what, name);
        t.setDaemon(true);
        t.start();
    }

    public static void main(String[] args) throws Exception {
        channel = new RandomAccessFile(new File(args[0]), "rw").getChannel();
        cell = channel.map(FileChannel.MapMode.READ_WRITE, 0, PAGE);
        cell.putLong(0, 1);
        start("worker", () -> {
            try {
                while (true) {
                    obey(ORDERS.take());
                    DONE.put("");
                }
            } catch (Exception e) {
                e.printStackTrace();
                System.exit(1);
            }
        });
        start("partner", () -> {
            try {
                while (true) {
                    play(false);
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String order = in.readLine(); order != null; order = in.readLine()) {
            ORDERS.put(order);
            DONE.take();
            System.out.println(".");
        }
    }
}
