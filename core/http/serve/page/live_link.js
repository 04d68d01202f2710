// The address of the page has what is shown: the parameters of a view in /api/v1, and the page's
// own ones: view, lines (the method whose lines are shown) and search. So a link shows the same,
// and the browser's Back undoes a step.
const link = (() => {
    const VIEWS = ["methods", "threads", "tree", "locks", "flame", "alloc", "status"];
    const PARAMETER = {thread: "thread", virtual: "virtual", method: "with", filter: "filter"};
    const number = (text) => (/^-?\d{1,12}$/.test(text || "") ? Number(text) : null);

    function writeTime(q, state) {
        if (state.held && !state.held.all)
            q.set("from", state.held.from);
        if (state.held)
            q.set("to", state.held.to);
        else if (state.span)
            q.set("from", -state.span);
    }

    // Writes what an address and a request for a view have in common.
    function writeShared(q, {held, span, before, narrowed}) {
        writeTime(q, {held, span});
        if (before)
            q.set("before", `${before.from}-${before.to}`);
        for (const n of narrowed)
            q.set(PARAMETER[n.virtual ? "virtual" : n.kind], n.value);
    }

    // Returns the address's query for this state: "?view=flame&event=alloc", or "".
    function write(state) {
        const q = new URLSearchParams();
        if (state.view !== "methods")
            q.set("view", state.view);
        if (state.event !== "cpu")
            q.set("event", state.event);
        writeShared(q, state);
        if (state.inverted)
            q.set("inverted", "1");
        if (state.lines)
            q.set("lines", state.lines);
        if (state.search)
            q.set("search", state.search);
        const text = q.toString();
        return text ? "?" + text : "";
    }

    function readTime(q) {
        const from = number(q.get("from")), to = number(q.get("to"));
        if (to !== null && to >= 0)
            return {span: 0, held: from === null ? {from: 0, to, all: true}
                                                 : {from: Math.max(from, 0), to}};
        return {span: from !== null && from < 0 ? -from : 0, held: null};
    }

    function readBefore(q) {
        const found = /^(\d{1,12})-(\d{1,12})$/.exec(q.get("before") || "");
        return found && Number(found[1]) <= Number(found[2]) && Number(found[2]) > 0
            ? {from: Number(found[1]), to: Number(found[2])} : null;
    }

    function readNarrowed(q) {
        const found = [];
        for (const kind of ["thread", "virtual"]) {
            const id = number(q.get(kind));
            if (id > 0)
                found.push({kind: "thread", virtual: kind === "virtual", value: id, label: String(id)});
        }
        for (const kind of ["method", "filter"]) {
            const text = q.get(PARAMETER[kind]);
            if (text)
                found.push({kind, value: text, label: text});
        }
        return found;
    }

    // Returns the state that an address stands for. What is wrong in it counts as not given.
    function read(address) {
        const q = new URLSearchParams(address);
        return {...readTime(q), narrowed: readNarrowed(q), before: readBefore(q),
                view: VIEWS.includes(q.get("view")) ? q.get("view") : "methods",
                event: q.get("event") || "cpu", inverted: q.get("inverted") === "1",
                lines: q.get("lines") || "", search: q.get("search") || ""};
    }

    return {VIEWS, write, writeShared, read};
})();
