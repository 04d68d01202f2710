// Allocations by class, the sites that allocate its objects, and their callers. A site is the first
// frame outside the JDK; the method of the JDK that it calls is named beside it.
class AllocTable extends NodeTable {
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
            {id: "name", label: "Class and sites",
             title: "Name of the class; where it is allocated, and the callers", up: true, head: true,
             value: (n) => n.name, text: (n) => n.name + (n.via ? ` via ${n.via}` : "")},
        ], 1);
    }

    static isOwn(tree, i) {
        return tree.kinds[tree.nameOf[i]] === "java" &&
            !/^(java|javax|jdk|sun|com\.sun)\./.test(tree.name(i));
    }

    // `tree`: inverted, so its roots are classes, and what is below a frame are its callers.
    setTree(tree, context) {
        const roots = new Map();
        for (let c = 1; c < tree.count; c = tree.end[c]) {
            const root = AllocTable.add(roots, tree, c, "");
            AllocTable.sites(tree, c, root.children);
        }
        this.setNodes(AllocTable.listed(roots), context);
    }

    static add(nodes, tree, i, via) {
        const name = tree.name(i);
        let node = nodes.get(name);
        if (!node) {
            node = {key: name, name, via, total: 0, samples: 0, children: new Map()};
            nodes.set(name, node);
        }
        node.total += tree.value[i];
        node.samples += tree.samples[i];
        return node;
    }

    // Adds the sites above frame i. Where no frame is outside the JDK, the last one is the site.
    static sites(tree, i, nodes) {
        for (let c = i + 1; c < tree.end[i]; c = tree.end[c]) {
            const via = tree.depth[c] > 2 ? tree.name(tree.parent[c]) : "";
            if (AllocTable.isOwn(tree, c) || tree.end[c] === c + 1)
                AllocTable.callers(tree, c, AllocTable.add(nodes, tree, c, via));
            else
                AllocTable.sites(tree, c, nodes);
        }
    }

    static callers(tree, i, node) {
        for (let c = i + 1; c < tree.end[i]; c = tree.end[c])
            AllocTable.callers(tree, c, AllocTable.add(node.children, tree, c, ""));
    }

    static listed(nodes) {
        return Array.from(nodes.values(), (n) => ({key: n.key, name: n.name, via: n.via,
                                                   total: n.total, samples: n.samples,
                                                   below: AllocTable.listed(n.children)}));
    }
}
