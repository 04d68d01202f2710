// The threads: their shares, their states, and the top method of each.
class ThreadTable extends Table {
    constructor(table, activate) {
        super(table, [
            {id: "weight", label: "Share", title: "Share of everything in this view", number: true,
             value: (t) => t.weight, fill: (cell, t, c) => MethodTable.bar(cell, t.weight, c)},
            {id: "samples", label: "Samples", title: "Samples of the thread", number: true,
             value: (t) => t.samples, text: (t) => numbers.count(t.samples)},
            {id: "tid", label: "Tid", title: "Thread number of the system", number: true,
             up: true, value: (t) => t.tid, text: (t) => (t.virtual ? "virtual" : String(t.tid))},
            {id: "change", label: "Change", number: true,
             title: "Share, against the baseline, in percentage points; * more than chance",
             value: (t) => MethodTable.points(t.change),
             text: (t) => MethodTable.change(t.change)},
            {id: "name", label: "Thread", title: "Name of the thread", up: true, head: true,
             value: (t) => t.name, text: (t) => t.name + (t.ended ? " (ended)" : "")},
            {id: "states", label: "States", title: ThreadTable.STATES,
             value: (t, c) => ThreadTable.ofWall(c) ? ThreadTable.first(t)[1] : t.weight,
             fill: ThreadTable.states},
            {id: "top", label: "Top method", title: "Its method with most self time", up: true,
             value: (t) => t.top || "", text: (t) => t.top || ""},
        ], {key: ThreadTable.keyOf, sort: "weight", activate,
            label: (t) => t.name + " " + (t.top || "")});
    }

    // Only samples of the wall clock show states. Those of CPU time show the share of a core.
    static ofWall(context) {
        return context.event === "wall";
    }

    set(rows, context) {
        const cpu = context.event === "cpu" && context.sampledNs > 0;
        const at = this.columns.findIndex((c) => c.id === "states"), head = this.heads[at].firstChild;
        setText(head, cpu ? "CPU" : "States");
        head.title = (cpu ? "CPU time of the thread, in percent of one core" : ThreadTable.STATES) +
            "; click to sort";
        this.showChanges(context);
        this.hide(at, !cpu && !ThreadTable.ofWall(context));
        super.set(rows, context);
    }

    static keyOf(t) {
        return t.virtual ? "v" + t.javaId : "t" + t.tid + " " + t.javaId;
    }

    // Returns pairs of state and fraction (0 to 1), the largest first.
    static parts(t) {
        const all = Object.entries(t.states || {}).filter(([, n]) => n > 0);
        const sum = all.reduce((a, [, n]) => a + n, 0) || 1;
        return all.map(([name, n]) => [name, n / sum]).sort((a, b) => b[1] - a[1]);
    }

    static first(t) {
        return ThreadTable.parts(t)[0] || ["", 0];
    }

    // Draws a bar, and the most frequent state in words: colour alone would not be accessible.
    static states(cell, t, context) {
        const core = t.weight / context.sampledNs;
        const parts = ThreadTable.ofWall(context) ? ThreadTable.parts(t) : [["running", Math.min(core, 1)]];
        const text = ThreadTable.ofWall(context)
            ? parts.map(([name, n]) => `${name} ${(100 * n).toFixed(0)}%`)
            : [`${(100 * core).toFixed(core < 0.0995 ? 1 : 0)}% of a core`];
        if (!cell.firstChild)
            cell.append(make("span", "states"), make("span", "state"));
        const bar = cell.firstChild;
        while (bar.children.length > parts.length)
            bar.lastChild.remove();
        while (bar.children.length < parts.length)
            bar.append(make("i"));
        parts.forEach(([name, n], i) => {
            bar.children[i].className = colours.state(name);
            bar.children[i].style.width = (100 * n).toFixed(1) + "%";
        });
        cell.title = text.join(", ");
        setText(cell.lastChild, text[0] || "");
    }

    matchText() {
        const rows = this.matches();
        const sum = rows.reduce((a, t) => a + t.weight, 0);
        return `${numbers.count(rows.length)} of ${numbers.count(this.rows.length)} threads match` +
            ` \u00b7 ${numbers.percent(sum, this.context ? this.context.weight : 0)}`;
    }
}
ThreadTable.STATES = "States of the thread in its samples";
