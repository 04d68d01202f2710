/** A thread that runs on and on; "gc" wants a safepoint, which has to wait for it. */
public final class LongSafepoint {
    private static volatile long turns;

    public static void main(String[] args) throws Exception {
        Thread spinner = new Thread("spinner") {
            @Override
            public void run() {
                for (;;) {
                    turns++;
                }
            }
        };
        spinner.setDaemon(true);
        spinner.start();
        System.out.println("ready");
        System.out.flush();
        for (int c = System.in.read(); c >= 0; c = System.in.read()) {
            if (c == 'g') {
                Thread collector = new Thread("collector") {
                    @Override
                    public void run() {
                        System.gc();
                    }
                };
                collector.setDaemon(true);
                collector.start();
            }
        }
    }
}
