/** Allocates 1000 arrays as the first thing it does; prints how many bytes they are. */
public final class FirstObjects {
    static byte[] kept;

    public static void main(String[] args) {
        for (int i = 0; i < 1000; i++) {
            kept = new byte[1000];
        }
        System.out.println(1000 * (16 + 1000));
    }
}
