/** Does nothing until its input ends: what an attached profiler costs shows here. */
public final class Idle {
    public static void main(String[] args) throws Exception {
        System.out.println("ready");
        System.out.flush();
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
