/**
 * Threads that are in the VM's stubs for much of their time: one copies arrays, one calls a method of
 * many classes, one a method of an interface that many classes implement.
 *
 * Prints "ready"; ends with its input.
 */
public final class Stubs {
    static volatile long sink;

    abstract static class Shape { abstract int area(); }
    static final class Shape1 extends Shape { int area() { return 1; } }
    static final class Shape2 extends Shape { int area() { return 2; } }
    static final class Shape3 extends Shape { int area() { return 3; } }
    static final class Shape4 extends Shape { int area() { return 4; } }

    interface Round { int radius(); }
    static final class Round1 implements Round { public int radius() { return 1; } }
    static final class Round2 implements Round { public int radius() { return 2; } }
    static final class Round3 implements Round { public int radius() { return 3; } }
    static final class Round4 implements Round { public int radius() { return 4; } }

    static void copy() {
        byte[] from = new byte[100000], to = new byte[100000];
        while (true) {
            System.arraycopy(from, 1, to, 3, from.length - 3);
            sink += to[5];
        }
    }

    static void shapes() {
        Shape[] all = {new Shape1(), new Shape2(), new Shape3(), new Shape4()};
        while (true) {
            long sum = 0;
            for (int i = 0; i < 10000; i++) {
                sum += all[i & 3].area();
            }
            sink += sum;
        }
    }

    static void rounds() {
        Round[] all = {new Round1(), new Round2(), new Round3(), new Round4()};
        while (true) {
            long sum = 0;
            for (int i = 0; i < 10000; i++) {
                sum += all[i & 3].radius();
            }
            sink += sum;
        }
    }

    static void start(Runnable r) {
        Thread t = new Thread(r);
        t.setDaemon(true);
        t.start();
    }

    public static void main(String[] args) throws Exception {
        start(Stubs::copy);
        start(Stubs::shapes);
        start(Stubs::rounds);
        System.out.println("ready");
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
