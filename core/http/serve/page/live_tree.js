// The call tree of a view, in arrays. Children are sorted by name, so that frames keep their order
// from second to second. Frame 0 is "all".
class Tree {
    // `compared`: the nodes have changes; `sites`: it is a tree by site, see api.h.
    constructor(tree, total, {compared, sites} = {}) {
        const nodes = tree.nodes, n = nodes.length + 1;
        this.count = n;
        this.cut = Boolean(tree.cut);
        this.names = ["all"].concat(tree.names);
        this.kinds = ["error"].concat(tree.kinds);
        for (const key of ["depth", "nameOf", "parent", "end", "look"])
            this[key] = new Int32Array(n);
        for (const key of ["left", "value", "self", "samples"])
            this[key] = new Float64Array(n);
        this.changes = compared ? new Array(n).fill(null) : null; // "all" has none
        this.ways = sites ? new Array(n).fill(null) : null;
        this.read(nodes, total);
    }

    read(nodes, total) {
        const {order, parents} = Tree.sorted(nodes, this.names);
        const place = new Int32Array(this.count); // frame of each node
        const next = new Float64Array(this.count); // where a frame's next child begins
        this.parent[0] = -1;
        this.look[0] = colours.lookOf("error", 0);
        for (let i = 1; i < this.count; i++) {
            const [name, , value, self, samples, tier, ...more] = nodes[order[i] - 1];
            const above = place[parents[order[i]]];
            place[order[i]] = i;
            this.parent[i] = above;
            this.depth[i] = this.depth[above] + 1;
            this.nameOf[i] = name + 1;
            this.value[i] = value;
            this.self[i] = self;
            this.samples[i] = samples;
            if (this.changes) {
                const [before, points, flags, shade] = more;
                this.changes[i] = {before, points, chance: Boolean(flags & 1),
                                   new: Boolean(flags & 2), shade};
            }
            if (this.ways)
                this.ways[i] = more[more.length - 1];
            this.look[i] = colours.lookOf(this.kinds[name + 1], tier);
            this.left[i] = next[above];
            next[above] += value;
            next[i] = this.left[i];
            if (above === 0)
                this.samples[0] += samples;
        }
        this.value[0] = Math.max(next[0], total.weight);
        this.self[0] = this.value[0] - next[0];
        this.samples[0] = Math.max(this.samples[0], total.samples);
        this.close();
    }

    // Returns the nodes (numbered from 1) in preorder with children sorted by name, and each node's
    // parent (0: none).
    static sorted(nodes, names) {
        const n = nodes.length + 1, base = nodes.length ? nodes[0][1] : 0;
        const parents = new Int32Array(n), children = Array.from({length: n}, () => []);
        const open = [0];
        for (let i = 1; i < n; i++) {
            const depth = Math.min(Math.max(nodes[i - 1][1] - base, 0), open.length - 1);
            parents[i] = open[depth];
            children[parents[i]].push(i);
            open.length = depth + 1;
            open.push(i);
        }
        const nameOf = (i) => names[nodes[i - 1][0] + 1];
        const order = [0], stack = [0];
        while (stack.length) {
            const at = stack.pop(), list = children[at];
            if (at)
                order.push(at);
            if (list.length > 1) // backwards, because the last one is popped first
                list.sort((a, b) =>
                    (nameOf(a) < nameOf(b) ? 1 : nameOf(a) > nameOf(b) ? -1 : b - a));
            stack.push(...list);
        }
        return {order, parents};
    }

    close() {
        this.levels = 0;
        for (let i = this.count - 1; i >= 0; i--) {
            this.end[i] = Math.max(this.end[i], i + 1);
            if (i)
                this.end[this.parent[i]] = Math.max(this.end[this.parent[i]], this.end[i]);
            this.levels = Math.max(this.levels, this.depth[i] + 1);
        }
    }

    name(i) {
        return this.names[this.nameOf[i]];
    }

    // Returns the method of the JDK by which a site allocates; "": none.
    via(i) {
        const way = this.ways && this.ways[i];
        return way === null ? "" : this.names[way + 1];
    }

    // Returns the change of a frame against the baseline: {before, points, chance, new, shade}; null:
    // nothing is compared.
    change(i) {
        return this.changes && this.changes[i];
    }

    // Returns the names from the root to a frame, used to find the frame again in the next view.
    path(i) {
        const names = [];
        for (; i > 0; i = this.parent[i])
            names.unshift(this.name(i));
        return names;
    }

    // Returns the frame with this path; -1: this view has none.
    find(path) {
        let at = 0;
        for (const name of path) {
            let child = at + 1;
            while (child < this.end[at] && this.name(child) !== name)
                child = this.end[child];
            if (child >= this.end[at])
                return -1;
            at = child;
        }
        return at;
    }

    isIn(i, top) {
        return i >= top && i < this.end[top];
    }

    isAround(i, top) {
        return i < top && top < this.end[i];
    }

    // Returns one byte per name: 1 if it matches.
    matching(pattern) {
        return Uint8Array.from(this.names, (name, i) => (i && pattern.test(name) ? 1 : 0));
    }

    // Returns the weight of the subtrees of frames with these names (one within another counts
    // once), and the number of these frames.
    matched(names, top) {
        let sum = 0, frames = 0;
        for (let i = top, counted = 0; i < this.end[top]; i++) {
            if (!names[this.nameOf[i]])
                continue;
            frames++;
            if (i >= counted) {
                sum += this.value[i];
                counted = this.end[i];
            }
        }
        return {sum, frames};
    }
}
