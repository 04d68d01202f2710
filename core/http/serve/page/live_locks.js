// Waits for locks: for each class of locks the threads that held it meanwhile, and for each of these
// the threads that waited for it, the locks it waited for itself, and its stack.
class LockTable extends NodeTable {
    constructor(table, activate) {
        const time = (ns) => (ns ? numbers.duration(ns) : "");
        super(table, (n) => n.method && activate({name: n.method}), [
            {id: "self", label: "Share", title: "Share of all waits for locks", number: true,
             value: (n) => n.total || 0, fill: LockTable.bar},
            {id: "total", label: "Waited", title: "Time that threads waited, together", number: true,
             value: (n) => n.total || 0, text: (n) => time(n.total)},
            {id: "samples", label: "Waits", title: "Number of waits", number: true,
             value: (n) => n.waits || 0, text: (n) => (n.waits ? numbers.count(n.waits) : "")},
            {id: "tier", label: "Longest", title: "The longest wait", number: true,
             value: (n) => n.longest || 0, text: (n) => time(n.longest)},
            {id: "name", label: "Lock and owners",
             title: "Class of the lock; its owners, and the threads that waited", up: true, head: true,
             value: (n) => n.name, text: (n) => n.name},
        ], 1);
    }

    static bar(cell, n, context) {
        if (n.total)
            MethodTable.bar(cell, n.total, context);
        else
            cell.replaceChildren();
        if (!n.total)
            cell.style.setProperty("--part", "0%");
    }

    compare(a, b) {
        return a.order - b.order || super.compare(a, b);
    }

    setLocks(locks, context) {
        const all = locks.classes.reduce((sum, c) => sum + c.waitedNs, 0);
        this.setNodes(locks.classes.map(LockTable.classNode), {...context, weight: all});
    }

    static thread = (t) => t.name || (t.tid ? `[tid=${t.tid}]` : "an unknown thread");
    static some = (n, one, many) => `${n < 1000 ? n : "1,000+"} ${n === 1 ? one : many}`;

    static classNode(c) {
        const owners = new Map(); // rows of one owner in one method are one node
        for (const o of c.owners) {
            const key = `${o.id} ${o.stack[0] || ""}`, known = owners.get(key);
            if (!known)
                owners.set(key, {...o, key});
            else
                Object.assign(known, {waits: known.waits + o.waits,
                                      waitedNs: known.waitedNs + o.waitedNs,
                                      longestNs: Math.max(known.longestNs, o.longestNs)});
        }
        const kind = {monitor: "monitor", shared: "read lock or semaphore"}[c.kind] || "lock";
        return {key: c.name, order: 0, total: c.waitedNs, waits: c.waits, longest: c.longestNs,
                name: `${c.name} (${kind}; ${LockTable.some(c.locks, "lock", "locks")}, ` +
                      `${LockTable.some(c.waiters, "thread", "threads")} waited)`,
                below: Array.from(owners.values(), (o) => LockTable.ownerNode(c, o))};
    }

    static ownerNode(c, o) {
        const known = c.links.filter((l) => o.id !== null && l.owner === o.id);
        const where = o.stack.length ? ` in ${o.stack[0]}` : "";
        return {key: o.key, order: 0, total: o.waitedNs, waits: o.waits, longest: o.longestNs,
                name: `held by ${LockTable.thread(o)}${where}`,
                below: known.map(LockTable.linkNode).concat(o.stack.map((method, i) => (
                    {key: "at " + i, order: 3 + i, name: "at " + method, method, below: []})))};
    }

    // A link without a lock is a thread that waited; with one, the next step of a chain.
    static linkNode(l) {
        const circle = l.deadlockNs ? `, in a deadlock for ${numbers.duration(l.deadlockNs)}` : "";
        const step = l.lock !== null;
        return {key: `${step} ${l.lock} ${l.name} ${l.tid}`, order: step ? 1 : 2, total: l.waitedNs,
                waits: l.waits, below: [],
                name: step ? `it waited itself for ${l.lock || "another lock"}, held by ` +
                             `${LockTable.thread(l)}${circle}`
                           : `waited: ${LockTable.thread(l)}`};
    }
}
