// The methods: which code takes the time, the bytes or the waits.
class MethodTable extends Table {
    constructor(table, activate) {
        const part = (value, context) => numbers.percent(value, context.weight);
        super(table, [
            {id: "self", label: "Self", title: "In the method itself", number: true,
             value: (m) => m.self, fill: (cell, m, c) => MethodTable.bar(cell, m.self, c)},
            {id: "total", label: "Total", title: "In the method and what it calls", number: true,
             value: (m) => m.total, text: (m, c) => part(m.total, c)},
            {id: "samples", label: "Samples", title: "Samples in the method itself", number: true,
             value: (m) => m.selfSamples, text: (m) => numbers.count(m.selfSamples)},
            {id: "tier", label: "Code", title: "How it ran in most samples", up: true,
             value: (m) => colours.tierText(m.kind, m.tier),
             text: (m) => colours.tierText(m.kind, m.tier)},
            {id: "change", label: "Change", number: true,
             title: "Self, against the baseline, in percentage points; * more than chance",
             value: (m) => MethodTable.points(m.selfChange),
             text: (m) => MethodTable.change(m.selfChange)},
            {id: "name", label: "Method", title: "Name of the method", up: true, head: true,
             value: (m) => m.name, text: (m) => m.name},
        ], {key: (m) => m.kind + " " + m.name, sort: "self", activate, label: (m) => m.name});
    }

    set(rows, context) {
        this.showChanges(context);
        super.set(rows, context);
    }

    static points = (change) => (change ? change.points : 0);
    // "+1.2*": by more than chance. "new": the baseline has no such row.
    static change = (change) => (!change ? "" : numbers.points(change.points, 1) +
        (change.new ? " new" : "") + (change.chance ? "" : "*"));

    static bar(cell, value, context) {
        if (!cell.firstChild)
            cell.append(make("span", "share"));
        cell.style.setProperty("--part", numbers.share(value, context.weight).toFixed(1) + "%");
        setText(cell.firstChild, numbers.percent(value, context.weight));
    }

    matchText() {
        const rows = this.matches();
        const sum = rows.reduce((a, m) => a + m.self, 0);
        return `${numbers.count(rows.length)} of ${numbers.count(this.rows.length)} methods match` +
            ` \u00b7 ${numbers.percent(sum, this.context ? this.context.weight : 0)} self`;
    }
}
