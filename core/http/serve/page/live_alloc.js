// Allocations by class, the sites that allocate its objects, and their callers. A site is the first
// frame outside the JDK; the method of the JDK that it calls is named beside it.
class AllocTable extends TreeTable {
    constructor(table, activate) {
        super(table, activate, [
            {id: "self", label: "Share", title: "Share of what is allocated", number: true,
             value: (n) => n.total, fill: (cell, n, c) => MethodTable.bar(cell, n.total, c)},
            {id: "total", label: "Allocated", title: "Bytes that are allocated", number: true,
             value: (n) => n.total, text: (n, c) => numbers.weight(n.total, c.unit)},
            {id: "samples", label: "Samples", title: "Samples of it", number: true,
             value: (n) => n.samples, text: (n) => numbers.count(n.samples)},
            {id: "tier", label: "Per second", title: "Bytes per second", number: true,
             value: (n) => n.total, text: (n, c) =>
                 (c.sampledNs ? numbers.weight(n.total * 1e9 / c.sampledNs, c.unit) : "")},
            TreeTable.changeColumn(),
            {id: "name", label: "Class and sites",
             title: "Name of the class; where it is allocated, and the callers", up: true, head: true,
             value: (n) => n.name, text: (n) => n.name + (n.via ? ` via ${n.via}` : "")},
        ]);
    }

    row(i, path, level) {
        return {...super.row(i, path, level), via: this.tree.via(i)};
    }

    // The sites are shown at first, and their callers are not.
    isOpen(row) {
        const known = this.opened.get(row.path);
        return known === undefined ? row.level === 0 && !row.leaf : known;
    }
}
