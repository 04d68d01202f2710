import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;

/**
 * Many threads, some busy, that come, go and change names as told.
 *
 *   java Threads SLEEPERS [BUSY-NAME...]
 *
 * Sleepers are called "sleeper-0" and so on and wake up ten times a second for a moment's work.
 * stdin, each answered with ".": "start NAME", "end NAME", "rename OLD NEW"; end of input ends all.
 */
public final class Threads {
    static volatile long sink;
    static final Map<String, Busy> busy = new HashMap<>();

    static long burn(long rounds) {
        long x = rounds + 1;
        for (long i = 0; i < rounds; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    static final class Busy extends Thread {
        volatile boolean end;
        volatile String newName;

        Busy(String name) {
            super(name);
            setDaemon(true);
        }

        @Override
        public void run() {
            while (!end) {
                sink = burn(100000);
                // By the thread itself: only then does HotSpot tell the kernel as well.
                String name = newName;
                if (name != null) {
                    setName(name);
                    newName = null;
                }
            }
        }
    }

    static final class Sleeper extends Thread {
        Sleeper(int number) {
            super(null, null, "sleeper-" + number, 128 << 10);
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                while (true) {
                    Thread.sleep(100);
                    sink = burn(20000);
                }
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    static void start(String name) {
        Busy b = new Busy(name);
        busy.put(name, b);
        b.start();
    }

    static void obey(String[] word) throws InterruptedException {
        if (word[0].equals("start")) {
            start(word[1]);
        } else if (word[0].equals("end")) {
            Busy b = busy.remove(word[1]);
            b.end = true;
            b.join();
        } else if (word[0].equals("rename")) {
            Busy b = busy.remove(word[1]);
            b.newName = word[2];
            while (b.newName != null) {
                Thread.sleep(1);
            }
            busy.put(word[2], b);
        }
    }

    public static void main(String[] args) throws Exception {
        int sleepers = Integer.parseInt(args[0]);
        for (int i = 0; i < sleepers; i++) {
            new Sleeper(i).start();
        }
        for (int i = 1; i < args.length; i++) {
            start(args[i]);
        }
        System.out.println("ready");
        System.out.flush();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            obey(line.split(" "));
            System.out.println(".");
            System.out.flush();
        }
    }
}
