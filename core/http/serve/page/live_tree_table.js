// The call tree as a table to open and close: the frames below a frame are its callees, or in the
// inverted tree its callers. What is open is known by the names on the path, so it stays open in
// the next view. Frames with a large share open by themselves.
class TreeTable extends Table {
    constructor(table, activate, columns) {
        super(table, columns || TreeTable.columns(),
              {key: (n) => n.path, sort: "self", activate, label: (n) => n.name});
        this.tree = null;
        this.opened = new Map(); // by path: open or closed
        table.setAttribute("role", "treegrid");
    }

    static columns() {
        return [
            {id: "self", label: "Total", title: "In the frame and what is below it", number: true,
             value: (n) => n.total, fill: (cell, n, c) => MethodTable.bar(cell, n.total, c)},
            {id: "total", label: "Self", title: "In the frame itself", number: true,
             value: (n) => n.self, text: (n, c) => numbers.percent(n.self, c.weight)},
            {id: "samples", label: "Samples", title: "Samples of the frame and what is below it",
             number: true, value: (n) => n.samples, text: (n) => numbers.count(n.samples)},
            {id: "tier", label: "Code", title: "How it ran in most samples", up: true,
             value: (n) => n.look, text: (n) => n.look},
            TreeTable.changeColumn(),
            {id: "name", label: "Frame", title: "Name of the method", up: true, head: true,
             value: (n) => n.name, text: (n) => n.name},
        ];
    }

    static changeColumn() {
        return {id: "change", label: "Change", number: true,
                title: "Share, against the baseline, in percentage points; * more than chance",
                value: (n) => MethodTable.points(n.change),
                text: (n) => MethodTable.change(n.change)};
    }

    setTree(tree, context) {
        this.tree = tree;
        this.showChanges(context);
        this.names = this.pattern ? tree.matching(this.pattern) : null;
        this.set(tree.count > 1 ? this.list() : [], context);
    }

    clear() {
        this.tree = null;
        this.opened.clear();
        this.set([], this.context);
    }

    search(pattern) {
        this.names = this.tree && pattern ? this.tree.matching(pattern) : null;
        super.search(pattern);
    }

    // ---- rows ----------------------------------------------------------------------------------

    row(i, path, level) {
        const t = this.tree, look = colours.looks[t.look[i]];
        return {i, path, level, name: t.name(i), total: t.value[i], self: t.self[i],
                samples: t.samples[i], look: look.label, change: t.change(i), leaf: t.end[i] === i + 1};
    }

    isOpen(row) {
        const known = this.opened.get(row.path);
        if (known !== undefined || row.leaf)
            return Boolean(known);
        const wide = row.total >= TreeTable.WIDE * this.tree.value[0];
        if (wide && this.opened.size < TreeTable.MOST)
            this.opened.set(row.path, true); // it stays open when its share shrinks
        return wide;
    }

    below(i, path, level) {
        const t = this.tree, rows = [];
        for (let c = i + 1; c < t.end[i]; c = t.end[c])
            rows.push(this.row(c, path + "\n" + t.name(c), level));
        return rows.sort((a, b) => this.compare(a, b) || b.total - a.total);
    }

    // Returns the rows that are shown, in their order; `all`: as if everything was open.
    list(all) {
        const rows = [], open = this.below(0, "", 0).reverse();
        while (open.length && rows.length < (all ? Infinity : TreeTable.MOST)) {
            const row = open.pop();
            rows.push(row);
            row.open = !row.leaf && (all || this.isOpen(row));
            if (row.open)
                open.push(...this.below(row.i, row.path, row.level + 1).reverse());
        }
        return rows;
    }

    ordered() {
        return this.rows;
    }

    sortBy(column) {
        this.up = column === this.by ? !this.up : Boolean(column.up);
        this.by = column;
        this.again();
    }

    again() {
        if (this.tree)
            this.rows = this.list();
        this.show();
    }

    makeLine(key) {
        const line = super.makeLine(key), twist = make("button", "twist");
        twist.tabIndex = -1;
        twist.addEventListener("click", () => {
            this.select(key);
            this.turn(line.row, !line.row.open);
        });
        line.button.before(twist);
        line.twist = twist;
        return line;
    }

    fill(line, row) {
        super.fill(line, row);
        const e = line.element;
        e.setAttribute("aria-level", row.level + 1);
        e.style.setProperty("--level", row.level);
        line.twist.hidden = row.leaf;
        setText(line.twist, row.open ? "\u25be" : "\u25b8");
        if (row.leaf)
            e.removeAttribute("aria-expanded");
        else
            e.setAttribute("aria-expanded", String(row.open));
        line.twist.setAttribute("aria-label", `${row.open ? "Close" : "Open"} ${row.name}`);
    }

    // ---- commands ------------------------------------------------------------------------------

    turn(row, open) {
        if (row.leaf)
            return;
        this.opened.set(row.path, open);
        this.again();
    }

    chosen() {
        const line = this.lines.get(this.selected);
        return line ? line.row : null;
    }

    // Right opens a frame, or goes to its first child; Left closes it, or goes to its parent.
    sideways(right) {
        const row = this.chosen();
        if (!row)
            return this.move(1);
        if (right ? !row.open && !row.leaf : row.open)
            return this.turn(row, right);
        if (right)
            return row.leaf ? undefined : this.move(1);
        const above = row.path.slice(0, row.path.lastIndexOf("\n"));
        if (this.lines.has(above))
            this.goTo(above);
    }

    reach(row) {
        for (let at = row.path.lastIndexOf("\n"); at > 0; at = row.path.lastIndexOf("\n", at - 1))
            this.opened.set(row.path.slice(0, at), true);
        this.again();
        if (this.lines.has(row.path))
            this.goTo(row.path);
    }

    // Opens the heaviest path below the chosen frame.
    hottest() {
        let row = this.chosen() || this.rows[0];
        if (!this.tree || !row)
            return;
        const heaviest = (r) => this.below(r.i, r.path, r.level + 1)
            .reduce((a, b) => (a && a.total >= b.total ? a : b), null);
        for (let next = heaviest(row); next; next = heaviest(row))
            row = next;
        this.reach(row);
    }

    nextMatch(step) {
        if (!this.tree || !this.pattern)
            return;
        const all = this.list(true), at = all.findIndex((row) => row.path === this.selected);
        for (let n = 1; n <= all.length; n++) {
            const row = all[(Math.max(at, step < 0 ? 0 : -1) + step * n + 2 * all.length) % all.length];
            if (this.isMatch(row))
                return this.reach(row);
        }
    }

    matchText() {
        if (!this.tree || !this.names)
            return "";
        const {sum, frames} = this.tree.matched(this.names, 0);
        return `matched ${numbers.percent(sum, this.tree.value[0])} \u00b7 ` +
            `${numbers.count(frames)} ${frames === 1 ? "frame" : "frames"}`;
    }
}
TreeTable.WIDE = 0.1; // from this share on, a frame opens by itself
TreeTable.MOST = 2000; // rows
