// The status: how good the profile is, and what it costs. Lines of text under heads; they are kept
// from view to view, so that a selection keeps its place.
class Status {
    constructor(box) {
        this.box = box;
        this.pattern = null;
        this.selected = -1;
    }

    show(view) {
        const parts = [["Events", Status.events(view)], ["Stacks", Status.stacks(view)],
                       ["Cost", Status.cost(view)], ["Session", Status.session(view)]];
        const lines = parts.flatMap(([head, rows]) => [[head]].concat(rows));
        while (this.box.children.length > lines.length)
            this.box.lastChild.remove();
        lines.forEach((line, i) => this.fill(i, line));
        this.mark();
    }

    fill(i, [label, text, bad]) {
        const wanted = text === undefined ? "H2" : "DIV";
        let e = this.box.children[i];
        if (!e || e.tagName !== wanted) {
            const made = make(wanted);
            if (wanted === "DIV")
                made.append(make("dt"), make("dd"));
            if (e)
                e.replaceWith(made);
            else
                this.box.append(made);
            e = made;
        }
        e.classList.toggle("mind", Boolean(bad));
        setText(text === undefined ? e : e.firstChild, label);
        if (text !== undefined)
            setText(e.lastChild, text);
    }

    // ---- lines: [label, text, whether it is a problem] -----------------------------------------

    static events(view) {
        return view.events.map((e) => {
            const amount = e.unit === "bytes" ? numbers.bytes : e.unit === "ns" ? numbers.duration
                         : numbers.count;
            const found = [e.runs ? e.mechanism || "runs" : e.asked ? "does not run" : "off"];
            if (e.interval)
                found.push("every " + amount(e.interval));
            found.push(numbers.count(e.samples) + " samples", numbers.count(e.dropped) + " dropped");
            if (e.biased)
                found.push("biased: at safepoints only");
            if (e.reason)
                found.push(e.reason);
            return [e.name, found.join(" \u00b7 "), e.biased || e.dropped || e.asked && !e.runs];
        });
    }

    static stacks(view) {
        const s = view.status, part = (n) => `${numbers.count(n)} (${numbers.percent(n, s.samples)})`;
        const rows = [["walker", s.walker || "none yet"],
                      ["dropped samples", part(s.dropped) + (s.dropped
                          ? ": the sample buffer was full, use a larger -b" : ""), s.dropped > 0],
                      ["failed walks", part(s.failed), s.failed > 0.05 * s.samples]];
        for (const [reason, n] of Object.entries(s.failures || {}))
            rows.push(["\u2003" + reason, part(n)]);
        rows.push(["exact to", `\u00b1${numbers.margin(view.total.samples).toFixed(1)} percentage ` +
            `points (95%), for the ${numbers.count(view.total.samples)} samples that are shown`]);
        return rows;
    }

    static cost(view) {
        const s = view.status;
        const rows = [["in the JVM", `${(s.overheadPercent || 0).toFixed(2)}% of a core, ` +
                       `${numbers.duration(s.agentCpuMs * 1e6)} CPU in all`]];
        if (s.samples)
            rows.push(["a sample", numbers.duration(s.agentCpuMs * 1e6 / s.samples) + " CPU"]);
        rows.push(["this server", `${numbers.duration(s.frontendCpuMs * 1e6)} CPU in all`]);
        if (s.budget)
            rows.push(["budget", s.budget]);
        if (s.missedMs)
            rows.push(["missed", `the server was stopped for ${numbers.duration(s.missedMs * 1e6)}: ` +
                       "nothing was sampled then", true]);
        return rows;
    }

    static session(view) {
        const s = view.status, w = view.window;
        const words = {running: "samples come in", stopped: "stopped: the profile is complete",
                       gone: "the JVM is gone: all that it had written was read", failed: "failed"};
        const rows = [["state", words[s.phase] || s.phase, s.phase === "failed"],
                      ["sampling for", numbers.duration(s.elapsedMs * 1e6)]];
        if (w.latest)
            rows.push(["history", `${numbers.duration((w.latest - w.oldest + 1) * 1e9)} of ` +
                       `${numbers.duration((w.latest - w.first + 1) * 1e9)} are available`]);
        if (s.lookingOn)
            rows.push(["sampled by", `process ${s.lookingOn}`]);
        if (s.message)
            rows.push(["message", s.message, true]);
        return rows;
    }

    // ---- search and keys, as in the other views ------------------------------------------------

    lines() {
        return Array.from(this.box.children);
    }

    search(pattern) {
        this.pattern = pattern;
        this.mark();
    }

    mark() {
        for (const line of this.lines())
            line.classList.toggle("match", Boolean(this.pattern && this.pattern.test(line.textContent)));
    }

    matchText() {
        const all = this.lines(), found = all.filter((line) => line.classList.contains("match"));
        return `${found.length} of ${all.length} lines match`;
    }

    go(to) {
        const all = this.lines();
        this.selected = Math.min(Math.max(to, 0), all.length - 1);
        if (all[this.selected])
            all[this.selected].scrollIntoView({block: "nearest"});
    }

    move(step) {
        this.go(this.selected + step);
    }

    nextMatch(step) {
        const all = this.lines();
        for (let n = 1; n <= all.length; n++) {
            const at = (Math.max(this.selected, 0) + step * n + 2 * all.length) % all.length;
            if (all[at].classList.contains("match"))
                return this.go(at);
        }
    }
}
