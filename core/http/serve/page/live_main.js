// The page of one JVM: the query, the views, and the pause (`held`: the time window while paused).
(() => {
    const pid = document.body.dataset.pid;
    const jvmName = document.body.dataset.name;
    // narrowed: {kind: "thread" | "filter", value, label}; lines: the method whose lines are shown
    const state = {view: "methods", event: "cpu", span: 0, held: null, inverted: false, rows: 200,
                   narrowed: [], before: null, lines: "", search: ""};
    const broad = window.matchMedia("(min-width: 1200px)"); // room for a table beside the flame graph
    let latest = null; // the view that is shown
    let shown = 0; // number of views so far
    let stepped = false; // the last change of the address was a small one

    // ---- the query -----------------------------------------------------------------------------

    const hasTree = (view) => view === "flame" || view === "tree";
    // Some views are always about one event.
    const FIXED = {locks: "lock", alloc: "alloc"};
    const eventOf = () => FIXED[state.view] || state.event;
    const isCompared = () => state.before && state.view !== "locks" && state.view !== "status";

    function question(held) {
        const q = new URLSearchParams({event: eventOf(), rows: state.rows});
        q.set("tree", hasTree(state.view) || state.view === "alloc" ? "1" : "0");
        if (state.view === "locks")
            q.set("locks", "1");
        if (state.view === "alloc")
            q.set("sites", "1");
        else if (state.inverted && state.view !== "locks")
            q.set("inverted", "1");
        const before = isCompared() ? state.before : null;
        link.writeShared(q, {held, span: state.span, before, narrowed: state.narrowed});
        return q.toString();
    }

    // While paused, the stream is only used to detect that the JVM or the server is gone, and to
    // keep the event sampled.
    const heartbeat = () => new URLSearchParams({event: eventOf(), rows: 0, tree: 0}).toString();

    async function ask() {
        document.body.classList.toggle("held", Boolean(state.held));
        if (!state.held)
            return stream.open(question(null));
        const view = await stream.view(question(state.held));
        if (view && state.held)
            show(view);
    }

    function hold(window) {
        const was = state.held;
        state.held = window;
        timeline.choose(window);
        tools.showPause(Boolean(state.held));
        if (!was)
            stream.open(heartbeat());
    }

    // ---- the address ---------------------------------------------------------------------------

    // Makes the state a step of the browser's history. A `small` change replaces the step of the
    // small change before it.
    function remember(small) {
        const address = location.pathname + link.write(state);
        if (address !== location.pathname + location.search) {
            if (small && stepped)
                history.replaceState(null, "", address);
            else
                history.pushState(null, "", address);
        }
        stepped = Boolean(small);
        showLogin();
    }

    // Changes the address, but makes no step.
    function note() {
        history.replaceState(null, "", location.pathname + link.write(state));
        showLogin();
    }

    function showLogin() {
        $("#login").href = "/login?next=" + encodeURIComponent(location.pathname + location.search);
    }

    // Shows what the address says.
    function restore() {
        const was = {event: eventOf(), inverted: state.inverted};
        Object.assign(state, link.read(location.search));
        stepped = false;
        if (eventOf() !== was.event || state.inverted !== was.inverted)
            clearTrees();
        $("#filter").value = state.narrowed.filter((n) => n.kind === "filter").map((n) => n.value).join();
        $("#search").value = state.search;
        tools.showSpan(state.span);
        $("#event").value = state.event;
        $("#invert").setAttribute("aria-pressed", String(state.inverted));
        search(state.search, true);
        timeline.choose(state.held);
        showBaseline();
        tools.showPause(Boolean(state.held));
        tools.showChips(state.narrowed, widen);
        showView();
        showLogin();
        if (state.held)
            stream.open(heartbeat());
        ask();
        if (!state.lines)
            about.close();
        else if (latest)
            about.show(state.lines, question(state.held));
    }

    // ---- showing -------------------------------------------------------------------------------

    function show(view) {
        const first = !latest;
        latest = view;
        const context = {weight: view.total.weight, unit: view.unit, event: view.event,
                         sampledNs: view.total.sampledNs, compared: Boolean(view.before)};
        if (!state.held || first)
            showNow(view);
        tools.showEvents(view.events, eventOf(), FIXED[state.view]);
        methods.set(view.methods || [], context);
        threads.set(view.threads || [], context);
        if (view.locks)
            locks.setLocks(view.locks, context);
        const sites = state.view === "alloc";
        const calls = view.tree ? new Tree(view.tree, view.total, {...context, sites}) : null;
        if (calls && sites) {
            alloc.setTree(calls, context);
        } else if (calls) {
            flame.set(calls, view.unit);
            tree.setTree(calls, context);
            tools.showLegend(context.compared);
        }
        nameThreads(view.threads || []);
        findings.follow(question(state.held), Boolean(state.held));
        showCounts(view);
        showMatches();
        shown++;
        if (first && state.lines)
            about.show(state.lines, question(state.held));
    }

    // What is always about now: a pause holds it.
    function showNow(view) {
        header.show(view);
        status.show(view);
        timeline.set(view.timeline, view.window.unix, view.unit, view.event);
        timeline.choose(state.held);
        showBaseline();
    }

    function showBaseline() {
        const b = state.before, unix = latest ? Math.floor(latest.window.unix) : 0;
        timeline.compare(b);
        tools.showBaseline(b, b && unix ? `${axis.clock(b.from + unix, 1)} to ` +
            axis.clock(b.to + unix, 1) : "the baseline");
    }

    // Makes the time that is shown the baseline, or ends the comparison.
    function compare(on) {
        const w = latest && latest.window;
        if (on && !(w && w.latest))
            return;
        state.before = on ? {from: Math.min(Math.max(w.from, w.oldest), w.to), to: w.to} : null;
        showBaseline();
        remember();
        ask();
    }

    // An address has only the number of a thread.
    function nameThreads(threads) {
        for (const n of state.narrowed.filter((o) => o.kind === "thread")) {
            const found = threads.find((t) => (t.virtual ? t.javaId : t.tid) === n.value &&
                                              t.virtual === Boolean(n.virtual));
            if (!found || !found.name || found.name === n.label)
                continue;
            n.label = found.name;
            tools.showChips(state.narrowed, widen);
        }
    }

    function showCounts(view) {
        const more = state.view === "methods" ? view.methodCount - (view.methods || []).length
                   : state.view === "threads" ? view.threadCount - (view.threads || []).length : 0;
        $("#more").hidden = !(more > 0) || state.rows >= 1000;
        setText($("#more"), `${numbers.count(Math.max(more, 0))} more rows`);
        const nothing = state.view !== "status" && view.total.samples === 0 && !(view.locks && view.locks.classes.length);
        setText($("#compared"), tools.comparedText(view, state));
        $("#nothing").hidden = !nothing;
        setText($("#nothing"), nothing ? tools.nothingText(view, state) : "");
    }

    function showState(name, text) {
        const phase = $("#phase");
        phase.dataset.state = name;
        setText(phase, text);
        $("#login").hidden = name !== "denied";
        if (name === "live" && !state.held)
            setText($("#trouble"), "");
    }

    function showView() {
        for (const tab of document.querySelectorAll("[role=tab]")) {
            const now = tab.dataset.view === state.view;
            tab.setAttribute("aria-selected", String(now));
            tab.tabIndex = now ? 0 : -1;
            $("#" + tab.getAttribute("aria-controls")).hidden = !now;
        }
        document.body.dataset.view = state.view;
        $("#methods").hidden = state.view !== "methods" && !(state.view === "flame" && broad.matches);
        $("#save").hidden = state.view !== "flame";
        $("#invert").hidden = !hasTree(state.view);
        flame.resize();
    }

    // ---- commands ------------------------------------------------------------------------------

    function look(view) {
        if (view === state.view)
            return;
        const was = {question: question(state.held), event: eventOf()};
        state.view = view;
        if (eventOf() !== was.event) {
            clearTrees();
            if (state.held)
                stream.open(heartbeat());
        }
        showView();
        if (latest)
            showCounts(latest);
        showMatches();
        remember();
        if (question(state.held) !== was.question)
            ask();
    }

    function pause() {
        if (state.held) {
            state.held = null;
            timeline.choose(null);
            tools.showPause(Boolean(state.held));
            ask();
        } else if (latest) {
            hold({from: latest.window.from, to: latest.window.to, all: latest.window.all});
        }
        remember();
    }

    function choose(from, to, small) {
        hold({from, to});
        remember(small);
        ask();
    }

    function clearTrees() {
        flame.clear();
        tree.clear();
        locks.clear();
        alloc.clear();
    }

    function step(seconds) {
        if (!latest || !timeline.line)
            return;
        const now = state.held || latest.window;
        const wide = Math.min(now.to - Math.max(now.from, timeline.oldest()), 9);
        const to = Math.min(Math.max(now.to + seconds, timeline.oldest()), timeline.latest());
        choose(Math.max(to - wide, timeline.oldest()), to, true);
    }

    function span(value) {
        state.span = Number(value);
        tools.showSpan(state.span);
        state.held = null;
        timeline.choose(null);
        tools.showPause(Boolean(state.held));
        remember();
        ask();
    }

    function nextSpan() {
        span(tools.nextSpan(state.span));
    }

    function event(name) {
        state.event = name;
        $("#event").value = name;
        clearTrees();
        if (state.held)
            stream.open(heartbeat()); // an event is sampled while a client requests it
        remember();
        ask();
    }

    function nextEvent(by) {
        if (FIXED[state.view])
            return;
        const names = Array.from($("#event").options, (o) => o.value);
        event(names[(names.indexOf(state.event) + by + names.length) % names.length]);
    }

    function invert() {
        state.inverted = !state.inverted;
        $("#invert").setAttribute("aria-pressed", String(state.inverted));
        clearTrees();
        remember();
        ask();
    }

    function narrow(n) {
        state.narrowed = state.narrowed.filter((o) => o.kind !== n.kind).concat(n.value ? [n] : []);
        tools.showChips(state.narrowed, widen);
        remember();
        ask();
    }

    function widen(n) {
        state.narrowed = state.narrowed.filter((o) => o !== n);
        if (n.kind === "filter")
            $("#filter").value = "";
        tools.showChips(state.narrowed, widen);
        remember();
        ask();
    }

    function narrowToThread(t) {
        narrow({kind: "thread", virtual: t.virtual, value: t.virtual ? t.javaId : t.tid,
                label: t.name});
    }

    function filter(text) {
        narrow({kind: "filter", value: text, label: text});
    }

    // ---- search --------------------------------------------------------------------------------

    function search(text, restored) {
        const pattern = text ? numbers.pattern(text) : null;
        const bad = Boolean(text) && !pattern;
        $("#search").setAttribute("aria-invalid", String(bad));
        for (const view of Object.values(views))
            view.search(pattern);
        state.pattern = pattern;
        state.search = text;
        if (!restored)
            note();
        showMatches(bad);
    }

    function showMatches(bad) {
        setText($("#matches"), bad ? "not a regular expression"
                             : state.pattern ? views[state.view].matchText() : "");
    }

    function clearSearch() {
        $("#search").value = "";
        search("");
    }

    // ---- one method ----------------------------------------------------------------------------

    function aboutMethod(m) {
        state.lines = m.name;
        note();
        about.show(m.name, question(state.held));
    }

    function aboutClosed() {
        state.lines = "";
        note();
    }

    const onlyMethod = (name) => narrow({kind: "method", value: name, label: name});

    // Shows the tree that begins at the method: what calls it, or what it calls.
    function treeOf(name, inverted) {
        state.event = eventOf();
        state.inverted = inverted;
        state.view = "tree";
        clearTrees();
        showView();
        onlyMethod(name);
    }

    function markInFlame(name) {
        const pattern = `^${AboutMethod.escaped(name)}$`;
        state.event = eventOf();
        look("flame");
        $("#search").value = pattern;
        search(pattern);
    }

    // To the method's callers, the thread's methods, or the view with more about it.
    function goTo(finding) {
        if (finding.method) {
            state.event = finding.event;
            return treeOf(finding.method, true);
        }
        if (!finding.thread)
            return look(finding.view);
        state.event = eventOf();
        state.view = "methods";
        showView();
        narrowToThread(finding.thread);
    }

    // ---- the parts -----------------------------------------------------------------------------

    const stream = new Stream("/api/v1/jvms/" + pid, {
        view: (view) => {
            if (!state.held)
                show(view);
            else if (!timeline.line) // the page began paused, and there was no sample yet
                showNow(view);
        },
        state: showState,
        failed: (text) => setText($("#trouble"), text),
    });
    // Beside the flame graph, a method is marked in it; a second click shows its lines.
    const methods = new MethodTable($("#methods table"), (m) => {
        if (state.view !== "flame" || (state.pattern && state.pattern.source ===
                                       `^${AboutMethod.escaped(m.name)}$`))
            aboutMethod(m);
        else
            markInFlame(m.name);
    });
    const tree = new TreeTable($("#tree table"), aboutMethod);
    const threads = new ThreadTable($("#threads table"), narrowToThread);
    const flame = new Flame({box: $("#flame-box"), canvas: $("#flame-canvas"),
                             detail: $("#flame-detail"), path: $("#flame-path"),
                             back: $("#flame-back"), changed: () => showMatches()});
    const timeline = new Timeline({canvas: $("#timeline"), tip: $("#timeline-tip"),
                                   label: $("#timeline-said"), chosen: choose});
    const locks = new LockTable($("#locks table"), aboutMethod);
    const alloc = new AllocTable($("#alloc table"), aboutMethod);
    const status = new Status($("#status dl"));
    const findings = new Findings($("#findings"), stream, goTo, () => state.view);
    const views = {methods, threads, tree, locks, flame, alloc, status};
    const about = new AboutMethod($("#method"), stream,
                                  {only: onlyMethod, inFlame: markInFlame, closed: aboutClosed,
                                   callers: (name) => treeOf(name, true),
                                   calls: (name) => treeOf(name, false)});

    const save = () => picture.saveFlame(flame, jvmName, pid, state.event);

    function escape() {
        if (state.pattern || $("#search").value)
            clearSearch();
        else if (state.view === "flame" && flame.zoomed)
            flame.zoom(0);
        else if (state.narrowed.length)
            widen(state.narrowed[state.narrowed.length - 1]);
        else if (state.held)
            pause();
        else
            return false;
        return true;
    }

    function arrow(e) {
        if (document.activeElement === $("#timeline"))
            return e.key === "ArrowLeft" ? step(-1) : e.key === "ArrowRight" ? step(1) : false;
        if (e.target.matches("[role=tab]"))
            return tools.besideTab(e.key, state.view);
        if (state.view === "flame")
            return flame.move(e.key);
        if (e.key === "ArrowLeft" || e.key === "ArrowRight")
            return views[state.view].sideways
                ? views[state.view].sideways(e.key === "ArrowRight") : false;
        views[state.view].move(e.key === "ArrowDown" ? 1 : -1);
    }

    function enter() {
        if (state.view !== "flame" || flame.focus < 0)
            return false;
        flame.zoom(flame.focus);
    }

    const inTable = (act) => () => (views[state.view] instanceof Table ? act(views[state.view]) : false);
    const inTree = (act) => () => (hasTree(state.view) ? act(views[state.view]) : false);
    const inFlame = (act) => () => (state.view === "flame" ? act() : false);
    const field = (id) => () => {
        $(id).focus();
        $(id).select();
    };

    function help() {
        $("#help").showModal();
    }

    const keys = new Keys([
        [["1"], "1", "methods: which code takes the time", () => look("methods")],
        [["2"], "2", "threads: which threads run it", () => look("threads")],
        [["3"], "3", "call tree: what calls what, as a table to open", () => look("tree")],
        [["4"], "4", "locks: which threads waited, and which held the lock", () => look("locks")],
        [["6"], "6", "allocation: which classes, and where", () => look("alloc")],
        [["5"], "5", "flame graph: all stacks as a picture", () => look("flame")],
        [["8"], "8", "status: how good the profile is, and what it costs", () => look("status")],
        [["0"], "0", "what stands out", () => findings.focus()],
        [["t"], "t", "switch to the threads and back",
         () => look(state.view === "threads" ? "methods" : "threads")],
        [["p", " "], "p Space", "pause the display, or resume; sampling continues", pause],
        [[","], ",", "pause, and go back a second", () => step(-1)],
        [["."], ".", "go forward a second", () => step(1)],
        [["<"], "<", "go back a minute", () => step(-60)],
        [[">"], ">", "go forward a minute", () => step(60)],
        [["w"], "w", "time window: all, the last 10 s, 1 min or 5 min", nextSpan],
        [["E", "]"], "E ]", "show the next event", () => nextEvent(1)],
        [["["], "[", "show the previous event", () => nextEvent(-1)],
        [["o"], "o", "choose the event", () => $("#event").focus()],
        [["/"], "/", "search: mark names (a regular expression)", field("#search")],
        [["n"], "n", "the next match", () => views[state.view].nextMatch(1)],
        [["N"], "N", "the previous match", () => views[state.view].nextMatch(-1)],
        [["\\"], "\\", "filter: keep stacks with a matching name; !x: those without",
         field("#filter")],
        [["Escape"], "Esc", "clear the search; else zoom out, remove a filter, or resume", escape],
        [["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"], "Arrows",
         "next row or frame; call tree: open, close; timeline: a second back, forward", arrow],
        [["j"], "j", "one row down", inTable((table) => table.move(1))],
        [["k"], "k", "one row up", inTable((table) => table.move(-1))],
        [["Enter"], "Enter", "flame: zoom; method: its lines; thread: only this one", enter],
        [["Backspace"], "Backspace", "flame: zoom out to the caller",
         inFlame(() => flame.zoom(Math.max(flame.tree ? flame.tree.parent[flame.zoomed] : 0, 0)))],
        [["e"], "e", "flame, call tree: the hottest path from here", inTree((v) => v.hottest())],
        [["i"], "i", "flame, call tree: top-down or bottom-up (callers of leaves)", inTree(invert)],
        [["b"], "b", "compare: the time that is shown is the baseline", () => compare(true)],
        [["B"], "B", "stop comparing", () => compare(false)],
        [["S"], "S", "sort by the next column", inTable((table) => table.nextSort())],
        [["r"], "r", "reverse the order of the rows", inTable((table) => table.reverse())],
        [["s"], "s", "save the flame graph as SVG", inFlame(save)],
        [["?"], "?", "this help", help],
    ]);

    // ---- start ---------------------------------------------------------------------------------

    function wire() {
        const on = (id, name, f) => $(id).addEventListener(name, f);
        for (const tab of document.querySelectorAll("[role=tab]"))
            tab.addEventListener("click", () => look(tab.dataset.view));
        on("#pause", "click", pause);
        on("#invert", "click", invert);
        on("#compare", "click", () => compare(!state.before));
        on("#save", "click", save);
        on("#help-button", "click", help);
        on("#more", "click", () => {
            state.rows = 1000;
            ask();
        });
        on("#event", "change", (e) => event(e.target.value));
        on("#span", "change", (e) => span(e.target.value));
        on("#search", "input", (e) => search(e.target.value));
        on("#search", "keydown", (e) => {
            if (e.key === "Escape")
                clearSearch();
            if (e.key === "Escape" || e.key === "Enter")
                e.target.blur();
            if (e.key !== "Enter")
                return;
            e.preventDefault(); // the match gets the focus, and would get the key
            views[state.view].nextMatch(1);
        });
        on("#filter", "change", (e) => filter(e.target.value));
        on("#filter", "keydown", (e) => ["Escape", "Enter"].includes(e.key) && e.target.blur());
        for (const dialog of document.querySelectorAll("dialog"))
            dialog.querySelector(".close").addEventListener("click", () => dialog.close());
    }

    setText($("#jvm-name"), jvmName);
    $("#event").append(new Option("cpu", "cpu"));
    keys.fill($("#keys"));
    wire();
    restore();
    window.addEventListener("popstate", restore);
    broad.addEventListener("change", showView);

    // For test scripts: the query, what is shown, and where frames are.
    window.livePage = {
        state: () => ({...state, pattern: String(state.pattern || ""), shown,
                       latest: latest && {window: latest.window, samples: latest.total.samples,
                                          event: latest.event},
                       phase: $("#phase").dataset.state}),
        flame: () => ({frames: flame.tree ? flame.tree.count : 0, zoomed: flame.zoomed,
                       focus: flame.focus, drawn: !flame.pending}),
        frame: (i) => flame.frame(i),
        show,
        timeline: () => timeline.line && {oldest: timeline.oldest(), latest: timeline.latest()},
    };
})();
