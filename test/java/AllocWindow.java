import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Scanner;

/**
 * Burns CPU in turns: inside() between calls of two C functions, outside() between those. Answers
 * every line with "NS-INSIDE NS-OUTSIDE WINDOWS" so far (CPU time), then ".".
 */
public class AllocWindow {
    static native void begin();

    static native void end();

    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    static volatile long sink, inside, outside, windows;

    static long burn(int rounds) {
        long x = 1;
        for (int i = 0; i < rounds; i++)
            x = x * 31 + (x >>> 7) + i;
        return x;
    }

    static void inside() {
        sink = burn(1500000);
    }

    static void outside() {
        sink = burn(4500000);
    }

    static void work() {
        while (true) {
            long from = CLOCK.getCurrentThreadCpuTime();
            begin();
            inside();
            end();
            long between = CLOCK.getCurrentThreadCpuTime();
            windows++;
            outside();
            inside += between - from;
            outside += CLOCK.getCurrentThreadCpuTime() - between;
        }
    }

    public static void main(String[] args) {
        System.load(args[0]);
        Thread t = new Thread(AllocWindow::work, "burner");
        t.setDaemon(true);
        t.start();
        System.out.println("ready");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            System.out.println(inside + " " + outside + " " + windows + "\n.");
        }
    }
}
