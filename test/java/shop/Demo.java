package shop;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A small shop to look at: workers parse, price and print orders, a ledger behind one lock,
 * reports that sort and compress, a cache that is cleaned, threads that mostly sleep. It takes
 * about two thirds of a core and ends with its input, so that it never outlives who started it.
 */
public final class Demo {
    public static void main(String[] args) throws Exception {
        Catalog catalog = new Catalog(5000);
        Ledger ledger = new Ledger();
        for (int i = 1; i <= 4; i++) {
            start("order-worker-" + i, new OrderWorker(catalog, ledger, i));
        }
        start("report-writer", new ReportWriter(ledger));
        start("cache-cleaner", new CacheCleaner(catalog));
        start("heartbeat", new Heartbeat());
        System.out.println("ready");
        System.out.flush();
        while (System.in.read() >= 0) {
            continue;
        }
    }

    static void start(String name, Runnable work) {
        Thread t = new Thread(work, name);
        t.setDaemon(true);
        t.start();
    }

    static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

/** What is sold. Looked up by name; prices are cached. */
final class Catalog {
    private final List<String> names = new ArrayList<>();
    private final Map<String, Integer> prices = new HashMap<>();
    private final Map<String, Integer> cache = new HashMap<>();

    Catalog(int size) {
        Random random = new Random(7);
        for (int i = 0; i < size; i++) {
            String name = "article-" + Integer.toString(random.nextInt(1 << 30), 36);
            names.add(name);
            prices.put(name, 100 + random.nextInt(10000));
        }
        Collections.sort(names);
    }

    String any(Random random) {
        return names.get(random.nextInt(names.size()));
    }

    int price(String name) {
        synchronized (cache) {
            Integer known = cache.get(name);
            if (known != null) {
                return known;
            }
        }
        int found = Collections.binarySearch(names, name);
        int price = found < 0 ? 0 : prices.get(names.get(found));
        synchronized (cache) {
            cache.put(name, price);
        }
        return price;
    }

    int clean() {
        synchronized (cache) {
            int size = cache.size();
            cache.clear();
            return size;
        }
    }
}

/** One customer's wish, as text and parsed. */
final class Order {
    final List<String> articles = new ArrayList<>();
    final List<Integer> counts = new ArrayList<>();

    static String random(Catalog catalog, Random random) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < 12; i++) {
            b.append(catalog.any(random)).append('=').append(1 + random.nextInt(9)).append(';');
        }
        return b.toString();
    }

    static Order parse(String text) {
        Order o = new Order();
        for (String item : text.split(";")) {
            int at = item.indexOf('=');
            o.articles.add(item.substring(0, at));
            o.counts.add(Integer.parseInt(item.substring(at + 1)));
        }
        return o;
    }
}

/** Discounts: the hot arithmetic. */
final class Pricing {
    static long total(Order o, Catalog catalog) {
        long sum = 0;
        for (int i = 0; i < o.articles.size(); i++) {
            sum += discount(catalog.price(o.articles.get(i)) * (long) o.counts.get(i));
        }
        return sum;
    }

    static long discount(long cents) {
        long best = cents;
        for (int percent = 1; percent <= 400; percent++) {
            long tried = cents - cents * (percent % 30) / 100 + percent % 7;
            best = Math.min(best, tried ^ (percent & 1));
        }
        return best;
    }
}

/** A receipt with a seal: allocation and hashing. */
final class Receipt {
    static String print(Order o, long total) {
        StringBuilder b = new StringBuilder("{\"items\":[");
        for (int i = 0; i < o.articles.size(); i++) {
            b.append("{\"article\":\"").append(escape(o.articles.get(i)));
            b.append("\",\"count\":").append(o.counts.get(i)).append("},");
        }
        return b.append("],\"total\":").append(total).append('}').toString();
    }

    static String escape(String s) {
        StringBuilder b = new StringBuilder(s.length() + 8);
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c == '"' || c == '\\') {
                b.append('\\');
            }
            b.append(c);
        }
        return b.toString();
    }

    static byte[] seal(String receipt) {
        try {
            MessageDigest d = MessageDigest.getInstance("SHA-256");
            return d.digest(receipt.getBytes(StandardCharsets.UTF_8));
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}

/** The books. Everybody waits for this one lock. */
final class Ledger {
    private final ArrayDeque<Long> totals = new ArrayDeque<>();

    synchronized void book(long total, byte[] seal) {
        totals.add(total + seal[0]);
        while (totals.size() > 20000) {
            totals.removeFirst();
        }
    }

    synchronized List<Long> copy() {
        return new ArrayList<>(totals);
    }
}

final class OrderWorker implements Runnable {
    private final Catalog catalog;
    private final Ledger ledger;
    private final Random random;

    OrderWorker(Catalog catalog, Ledger ledger, int number) {
        this.catalog = catalog;
        this.ledger = ledger;
        this.random = new Random(number);
    }

    @Override
    public void run() {
        while (!Thread.currentThread().isInterrupted()) {
            for (int i = 0; i < 40; i++) {
                serve(Order.random(catalog, random));
            }
            Demo.pause(10);
        }
    }

    void serve(String text) {
        Order o = Order.parse(text);
        long total = Pricing.total(o, catalog);
        ledger.book(total, Receipt.seal(Receipt.print(o, total)));
    }
}

final class ReportWriter implements Runnable {
    private final Ledger ledger;

    ReportWriter(Ledger ledger) {
        this.ledger = ledger;
    }

    @Override
    public void run() {
        while (!Thread.currentThread().isInterrupted()) {
            compress(rank(ledger.copy()));
            Demo.pause(200);
        }
    }

    static String rank(List<Long> totals) {
        Collections.sort(totals);
        StringBuilder b = new StringBuilder();
        for (long t : totals) {
            b.append(t).append('\n');
        }
        return b.toString();
    }

    static int compress(String report) {
        java.util.zip.Deflater d = new java.util.zip.Deflater();
        try {
            d.setInput(report.getBytes(StandardCharsets.US_ASCII));
            d.finish();
            byte[] out = new byte[8192];
            int size = 0;
            while (!d.finished()) {
                size += d.deflate(out);
            }
            return size;
        } finally {
            d.end();
        }
    }
}

final class CacheCleaner implements Runnable {
    private final Catalog catalog;

    CacheCleaner(Catalog catalog) {
        this.catalog = catalog;
    }

    @Override
    public void run() {
        while (!Thread.currentThread().isInterrupted()) {
            catalog.clean();
            Demo.pause(50);
        }
    }
}

final class Heartbeat implements Runnable {
    @Override
    public void run() {
        while (!Thread.currentThread().isInterrupted()) {
            Demo.pause(1000);
        }
    }
}
