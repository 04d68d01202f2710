import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;

/**
 * One thread whose work changes when it is told to. Of ten turns, steady() has two in every phase.
 * The other eight are early() in phase 1; in phase 2, early() has two and late() six. Each turn
 * takes the same CPU time and allocates as much: early() makes byte arrays itself, late() has
 * ArrayList make arrays of Object, steady() makes char arrays.
 *
 * A line sets the phase, "1" or "2"; the answer is ".". End of input ends the program.
 */
public final class Phases {
    static final int KEPT = 64;
    static volatile int phase = 1;
    static volatile long sink;
    static final Object[] kept = new Object[KEPT];

    static long burn(long x) {
        for (int i = 0; i < 400000; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    static void early(int turn) {
        sink = burn(turn + 1);
        for (int i = 0; i < 16; i++) {
            kept[i] = new byte[4096];
        }
    }

    static void late(int turn) {
        sink = burn(turn + 2);
        for (int i = 0; i < 16; i++) {
            List<Object> list = new ArrayList<>(1024);
            kept[i] = list;
        }
    }

    static void steady(int turn) {
        sink = burn(turn + 3);
        for (int i = 0; i < 16; i++) {
            kept[i] = new char[2048];
        }
    }

    static void turn(int n) {
        if (n % 10 < 2) {
            steady(n);
        } else if (phase == 1 || n % 10 < 4) {
            early(n);
        } else {
            late(n);
        }
    }

    static void work() {
        for (int n = 0; true; n = (n + 1) % 1000000) {
            turn(n);
        }
    }

    public static void main(String[] args) {
        Thread t = new Thread(Phases::work, "phases");
        t.setDaemon(true);
        t.start();
        System.out.println("ready");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            phase = Integer.parseInt(in.nextLine());
            System.out.println(".");
        }
    }
}
