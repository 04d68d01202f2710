// The header above the views: the JVM's figures, and how good the profile is.
const header = (() => {
    const MAX_OVERHEAD = 2, MAX_LOST = 1; // percent; from here on, a caution is shown
    const FEW = 400; // samples; with fewer, the margin is above 4.9 points

    function figures(view) {
        const j = view.jvm, s = view.status;
        const heap = numbers.bytes(j.heapUsedBytes || 0);
        return {
            cpu: numbers.percent(j.cpuPercent, 100).replace(/\.\d+/, (d) => d.slice(0, 2)),
            heap: j.heapMaxBytes ? `${heap} of ${numbers.bytes(j.heapMaxBytes)}` : heap,
            threads: numbers.count(j.threads || 0),
            up: numbers.duration((j.uptimeMs || 0) * 1e6),
            samples: numbers.count(view.total.samples),
            dropped: numbers.count(s.dropped || 0),
            overhead: `${(s.overheadPercent || 0).toFixed(2)}%`,
        };
    }

    // Returns the reasons for a caution.
    function doubts(view, event) {
        const s = view.status, n = view.total.samples, lost = numbers.share(s.dropped, s.samples);
        const failed = numbers.share(view.total.failed, n), found = [];
        if (event && event.reason)
            found.push(event.reason);
        if (event && event.biased)
            found.push("samples at safepoints only: biased");
        if (lost >= MAX_LOST)
            found.push(`${lost.toFixed(1)}% of the samples were dropped`);
        if (view.total.filterGaveUp)
            found.push("the filter takes too long for some names: they count as not matching");
        if (failed >= MAX_LOST)
            found.push(`${failed.toFixed(1)}% of the stacks could not be walked`);
        if (s.overheadPercent >= MAX_OVERHEAD)
            found.push(`the profiler itself uses ${s.overheadPercent.toFixed(1)}% of a core`);
        return found;
    }

    function every(event) {
        const bytes = event.unit === "bytes";
        return !event.interval || !(bytes || ["cpu", "wall"].includes(event.name)) ? ""
             : " every " + (bytes ? numbers.bytes : numbers.duration)(event.interval);
    }

    function quality(view) {
        const event = view.events.find((e) => e.name === view.event), said = doubts(view, event);
        const how = event && event.mechanism ? ` \u00b7 ${event.mechanism}${every(event)}` : "";
        const s = view.status, margin = numbers.margin(view.total.samples).toFixed(1);
        const look = s.lookingOn ? ` \u00b7 sampled by process ${s.lookingOn}` : "";
        const budget = s.budget ? ` \u00b7 ${s.budget}` : "";
        const verdict = said.length ? "Caution: " + said.join("; ")
                      : view.total.samples < FEW ? "Few samples so far" : "Good profile";
        return `${verdict} \u00b7 ` +
            `shares exact to \u00b1${margin} percentage points (95%)${how}${look}${budget}`;
    }

    function show(view) {
        setText($("#jvm-version"), `pid ${view.jvm.pid} \u00b7 ${view.jvm.version || ""}` +
            (view.jvm.user ? ` \u00b7 ${view.jvm.user}` : ""));
        for (const [id, text] of Object.entries(figures(view)))
            setText($("#f-" + id), text);
        setText($("#quality"), quality(view));
        $("#quality").classList.toggle("mind", $("#quality").textContent.startsWith("Caution"));
    }

    return {show};
})();
