// A table to open and close whose rows are made by the page: nodes {key, name, total, below: nodes},
// and what the columns read. `key` tells a node from its siblings.
class NodeTable extends TreeTable {
    // `open`: how many levels are open at first.
    constructor(table, activate, columns, open) {
        super(table, activate, columns);
        this.levels = open;
    }

    setNodes(nodes, context) {
        this.tree = nodes;
        this.showChanges(context);
        this.set(this.list(), context);
    }

    isOpen(row) {
        const known = this.opened.get(row.path);
        return known === undefined ? row.level < this.levels : known;
    }

    below(node, path, level) {
        const nodes = node ? node.below : this.tree;
        return nodes.map((n) => ({...n, i: n, path: path + "\n" + n.key, level,
                                  leaf: !n.below.length}))
            .sort((a, b) => this.compare(a, b));
    }

    search(pattern) {
        Table.prototype.search.call(this, pattern);
    }

    matchText() {
        const found = this.matches().length;
        return `${numbers.count(found)} of ${numbers.count(this.rows.length)} rows match`;
    }
}
