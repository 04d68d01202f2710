package bench;

/**
 * bench.Large loads copies of this class with the digits in its names replaced: about as many
 * methods and fields as a class of an application has.
 */
public class LargeTemplate {
    public static class T00000 implements Runnable {
        private int count00000;
        private long total00000;
        private String name00000 = "T00000";

        @Override
        public void run() {
            add00000(1);
            name00000 = describe00000();
        }

        public int getCount00000() {
            return count00000;
        }

        public void setCount00000(int count) {
            count00000 = count;
        }

        public long getTotal00000() {
            return total00000;
        }

        public void setTotal00000(long total) {
            total00000 = total;
        }

        public String getName00000() {
            return name00000;
        }

        public void setName00000(String name) {
            name00000 = name;
        }

        void add00000(long amount) {
            count00000++;
            total00000 += amount;
        }

        String describe00000() {
            return name00000 + getCount00000();
        }

        @Override
        public String toString() {
            return describe00000() + getTotal00000();
        }
    }
}
