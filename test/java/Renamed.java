/** A thread that has another name as soon as it runs, works for a while and ends; and then the JVM. */
public final class Renamed {
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        Thread thread = new Thread(() -> {
            Thread.currentThread().setName("the new name");
            for (long end = System.nanoTime() + 400_000_000L; System.nanoTime() < end;) {
                sink++;
            }
        }, "the old name");
        thread.start();
        thread.join();
    }
}
