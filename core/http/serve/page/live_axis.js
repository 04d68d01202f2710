// Axes of the timeline: what the height of a bar means for each event, and round numbers and times
// for the labels.
const axis = (() => {
    const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800]; // seconds between two labels
    // What a nanosecond per second is, by event. Others: threads that are in it.
    const THREADS = {cpu: "cores", wall: "threads", lock: "threads waiting",
                     nativelock: "threads waiting"};

    const plain = (n) => String(Number(n.toPrecision(2)));

    const unitOf = (unit, event) =>
        unit === "bytes" ? "bytes per second" : unit !== "ns" ? "number per second"
        : Object.hasOwn(THREADS, event) ? THREADS[event] : "threads in it";

    // Returns a weight per second as text: "1.5 cores", "24 MB/s", "120/s".
    const rate = (weight, unit, event) =>
        unit === "bytes" ? numbers.bytes(weight) + "/s"
        : unit !== "ns" ? numbers.count(weight) + "/s"
        : `${plain(weight / 1e9)} ${unitOf(unit, event)}`;

    // Returns the same for a mark of the axis, which has little room. `full`: with the unit.
    const mark = (weight, unit, event, full) =>
        unit !== "ns" ? rate(weight, unit, event)
        : plain(weight / 1e9) + (full ? " " + unitOf(unit, event).split(" ")[0] : "");

    // Returns the smallest round number that is not below `most`; the half of it is round, too.
    function top(most, unit) {
        const size = unit === "bytes" ? 1024 ** Math.floor(Math.log(Math.max(most, 1)) / Math.log(1024))
                   : unit === "ns" ? 1e9 : 1;
        const wanted = Math.max(most / size, 1e-9);
        const power = 10 ** Math.floor(Math.log10(wanted));
        const factor = [1, 2, 4, 6, 8, 10].find((f) => f * power >= wanted * 0.999) || 10;
        return Math.max(Math.round(factor * power * size), 2);
    }

    const two = (n) => String(n).padStart(2, "0");

    // Returns the time of day of a Unix time; `step`: seconds between two labels.
    function clock(unix, step) {
        const t = new Date(unix * 1000);
        return `${two(t.getHours())}:${two(t.getMinutes())}` + (step % 60 ? `:${two(t.getSeconds())}` : "");
    }

    // Returns the seconds that get a label, at most one in `seconds` * `room` seconds: [second,
    // text]. They are round times of day; without `unix`, round numbers of seconds before the end.
    function times(begin, seconds, unix, room) {
        const step = STEPS.find((s) => s >= seconds * room) || 3600, found = [];
        const zero = unix ? Math.floor(unix) : -(begin + seconds - 1);
        const first = begin + (step - (begin + zero) % step) % step;
        for (let s = first; s < begin + seconds; s += step)
            found.push([s, unix ? clock(s + zero, step) : s + zero ? `${s + zero} s` : "now"]);
        return found;
    }

    return {rate, mark, unitOf, top, times, clock};
})();
