// The call tree of this page. A row has an element only while it is visible, and children are
// sorted only when their frame is unfolded, so that a page can have a million frames.
(function () {
    "use strict";

    const ROW = 18;
    const INDENT = 10;
    const SLACK = 10;         // rows above and below the visible ones that have elements
    const MOST_ROWS = 300000; // listed at once: a browser cannot scroll over many more
    const HINT = "Click or Enter unfolds \u00b7 arrow keys move \u00b7 h unfolds the hottest " +
        "path \u00b7 * unfolds all below \u00b7 r starts stacks at the leaf \u00b7 / searches";

    const $ = (selector) => document.querySelector(selector);
    const {profile, byWeight, names, count, weightText, percent, points, patternOf} = page;
    const ends = [page.frames, null]; // 0: shown; 1: the reverse, null: not made yet
    let {COUNT, depths, nameOf, classOf, value, other, self, parent, end, change,
         flags} = page.frames;
    const main = $("main"), room = $(".room"), field = $("input"), status = $(".status");
    const hoverLine = $(".hover"), stats = $(".stats");
    let unfolded = new Uint8Array(COUNT);
    const matchedName = new Uint8Array(names.length);
    const made = new Map(); // row → its element

    let rows = [0];     // the listed frames, in order
    let focus = 0;      // a frame
    let hover = -1;
    let pattern = null; // RegExp
    let matches = [];   // frames, heaviest first
    let match = -1;     // index in `matches`
    let pending = false;

    const samplesOf = (i) => (byWeight ? other[i] : value[i]);
    const weightOf = (i) => (byWeight ? value[i] : other[i]);
    const isLeaf = (i) => end[i] === i + 1;
    const heavier = (a, b) => value[b] - value[a] || a - b;

    function childrenOf(i) {
        const list = [];
        for (let c = i + 1; c < end[i]; c = end[c])
            list.push(c);
        return list.sort(heavier);
    }

    function hottestChild(i) {
        let best = -1;
        for (let c = i + 1; c < end[i]; c = end[c])
            if (best < 0 || value[c] > value[best])
                best = c;
        return best;
    }

    // ---- the list of rows ----------------------------------------------------------------------

    // Returns the frames listed below a frame: its children, and all children of unfolded frames
    // among them; at most `room`.
    function listBelow(i, room) {
        const list = [], stack = [];
        const push = (of) => {
            const children = childrenOf(of);
            for (let k = children.length; k-- > 0;)
                stack.push(children[k]);
        };
        push(i);
        while (stack.length && list.length < room) {
            const at = stack.pop();
            list.push(at);
            if (unfolded[at])
                push(at);
        }
        return list;
    }

    function list() {
        rows = [0].concat(unfolded[0] ? listBelow(0, MOST_ROWS) : []);
        for (const element of made.values())
            element.remove();
        made.clear();
        room.style.height = rows.length * ROW + "px";
        redraw();
    }

    function setUnfolded(i, on) {
        if (isLeaf(i) || unfolded[i] === Number(on))
            return;
        unfolded[i] = Number(on);
        if (!on && i < focus && focus < end[i])
            focus = i;
        list();
    }

    function unfoldHottest(from) {
        let i = from;
        for (let c = i; c >= 0; c = hottestChild(i)) {
            i = c;
            unfolded[i] = isLeaf(i) ? 0 : 1;
        }
        list();
        setFocus(i);
    }

    function unfoldAllBelow(i) {
        let budget = MOST_ROWS - rows.length;
        for (let k = i; k < end[i] && budget > 0; k++, budget--)
            unfolded[k] = isLeaf(k) ? 0 : 1;
        list();
    }

    function foldAll() {
        unfolded.fill(0);
        unfolded[0] = 1;
        list();
        setFocus(0);
    }

    // Unfolds the hottest path while its frames have at least 90 % of the total.
    function begin() {
        unfolded = new Uint8Array(COUNT);
        unfolded[0] = 1;
        for (let i = hottestChild(0); i > 0 && value[i] >= 0.9 * value[0] && !isLeaf(i);
             i = hottestChild(i))
            unfolded[i] = 1;
        list();
        setFocus(0);
    }

    function reverse() {
        if (change)
            return; // changes are known only for stacks from the root
        ends[1] = ends[1] || page.reversed();
        ends.reverse();
        ({COUNT, depths, nameOf, classOf, value, other, self, parent, end, change,
          flags} = ends[0]);
        begin();
        if (field.value)
            search(field.value);
    }

    // Unfolds all frames above a frame, so that it is listed, and moves the focus to it.
    function show(i) {
        for (let p = parent[i]; p >= 0; p = parent[p])
            unfolded[p] = 1;
        list();
        setFocus(i);
    }

    // ---- drawing -------------------------------------------------------------------------------

    function cell(kind, text) {
        const span = document.createElement("span");
        span.className = kind;
        span.textContent = text;
        return span;
    }

    function make(row) {
        const i = rows[row];
        const element = document.createElement("div");
        const look = profile.classes[classOf[i]];
        const share = cell("share", percent(value[i], value[0]));
        const mark = cell("mark", look.letter);
        const name = cell("name", names[nameOf[i]]);
        const left = Math.min(depths[i], 400) * INDENT;
        element.className = "row";
        element.dataset.frame = i;
        element.style.top = row * ROW + "px";
        element.setAttribute("role", "treeitem");
        element.setAttribute("aria-level", depths[i] + 1);
        if (!isLeaf(i))
            element.setAttribute("aria-expanded", String(Boolean(unfolded[i])));
        share.style.setProperty("--part", percent(value[i], value[0]));
        mark.style.background = look.colours[3];
        const fold = cell("fold", isLeaf(i) ? "" : unfolded[i] ? "\u25be" : "\u25b8");
        fold.style.marginLeft = left + "px";
        name.classList.toggle("match", i > 0 && matchedName[nameOf[i]] === 1);
        element.append(share, cell("self", percent(self[i], value[0])),
                       cell("count", count(samplesOf(i))), cell("weight", weightText(weightOf(i))));
        if (change)
            element.append(cell("change", flags[i] & 1 || !i ? "" : points(change[i])));
        element.append(fold);
        if (i)
            element.append(mark);
        element.append(name);
        return element;
    }

    function draw() {
        pending = false;
        const first = Math.max(Math.floor(main.scrollTop / ROW) - SLACK, 0);
        const last = Math.min(Math.ceil((main.scrollTop + main.clientHeight) / ROW) + SLACK,
                              rows.length);
        for (const [row, element] of made) {
            if (row < first || row >= last) {
                element.remove();
                made.delete(row);
            }
        }
        for (let row = first; row < last; row++) {
            if (!made.has(row)) {
                made.set(row, make(row));
                room.appendChild(made.get(row));
            }
            const element = made.get(row), focused = rows[row] === focus;
            element.classList.toggle("focus", focused);
            element.setAttribute("aria-selected", String(focused));
        }
    }

    function redraw() {
        if (!pending)
            window.requestAnimationFrame(draw);
        pending = true;
    }

    function describe() {
        const i = hover >= 0 ? hover : focus > 0 ? focus : -1;
        hoverLine.classList.toggle("hint", i < 0);
        hoverLine.textContent = i < 0 ? HINT : names[nameOf[i]];
        if (i < 0) {
            stats.textContent = "";
            return;
        }
        const samples = samplesOf(i);
        stats.textContent = [
            percent(value[i], value[0]), count(samples) + (samples === 1 ? " sample" : " samples"),
            weightText(weightOf(i)), "self " + percent(self[i], value[0]),
            profile.classes[classOf[i]].label,
        ].join(" \u00b7 ");
    }

    function legend() {
        const footer = $("footer");
        for (const look of profile.classes) {
            if (!look.used)
                continue;
            const span = document.createElement("span");
            const square = document.createElement("i");
            square.style.background = look.colours[3];
            span.append(square, look.letter + " " + look.label);
            footer.appendChild(span);
        }
        if (!profile.samples)
            footer.append("no samples");
        else if (profile.hidden > 0)
            footer.append("frames under " + Number(profile.hidden.toPrecision(2)) +
                          "% are not listed");
    }

    // ---- search --------------------------------------------------------------------------------

    function search(text) {
        pattern = text ? patternOf(text) : null;
        field.classList.toggle("bad", Boolean(text) && !pattern);
        matchedName[0] = 0;
        for (let n = 1; n < names.length; n++)
            matchedName[n] = pattern && pattern.test(names[n]) ? 1 : 0;
        matches = [];
        match = -1;
        let sum = 0;
        for (let i = 1, counted = 0; pattern && i < COUNT; i++) {
            if (!matchedName[nameOf[i]])
                continue;
            matches.push(i);
            if (i >= counted) {
                sum += value[i];
                counted = end[i]; // its subtree is included
            }
        }
        matches.sort(heavier);
        status.textContent = pattern ? "matched " + percent(sum, value[0]) + " \u00b7 " +
            count(matches.length) + (matches.length === 1 ? " frame" : " frames")
            : text ? "not a regular expression" : "";
        list();
    }

    function nextMatch(step) {
        if (!matches.length)
            return;
        match = match < 0 && step < 0 ? matches.length - 1
              : (match + step + matches.length) % matches.length;
        show(matches[match]);
    }

    function clearSearch() {
        field.value = "";
        search("");
    }

    // ---- keyboard and pointer ------------------------------------------------------------------

    function setFocus(i) {
        const row = rows.indexOf(i);
        focus = i;
        hover = -1;
        if (row >= 0) {
            const top = row * ROW;
            if (top < main.scrollTop)
                main.scrollTop = top;
            else if (top + 2 * ROW > main.scrollTop + main.clientHeight)
                main.scrollTop = top + 2 * ROW - main.clientHeight;
        }
        describe();
        redraw();
    }

    function step(by) {
        const row = rows.indexOf(focus) + by;
        setFocus(rows[Math.min(Math.max(row, 0), rows.length - 1)]);
    }

    function right() {
        if (isLeaf(focus))
            return;
        if (!unfolded[focus])
            setUnfolded(focus, true);
        else
            setFocus(hottestChild(focus));
    }

    function left() {
        if (unfolded[focus] && !isLeaf(focus))
            setUnfolded(focus, false);
        else if (parent[focus] >= 0)
            setFocus(parent[focus]);
    }

    const pageOfRows = () => Math.max(Math.floor(main.clientHeight / ROW) - 1, 1);
    const keys = {
        "ArrowDown": () => step(1),
        "ArrowUp": () => step(-1),
        "PageDown": () => step(pageOfRows()),
        "PageUp": () => step(-pageOfRows()),
        "Home": () => setFocus(0),
        "End": () => setFocus(rows[rows.length - 1]),
        "ArrowRight": right,
        "ArrowLeft": left,
        "Enter": () => setUnfolded(focus, !unfolded[focus]),
        " ": () => setUnfolded(focus, !unfolded[focus]),
        "h": () => unfoldHottest(focus),
        "*": () => unfoldAllBelow(focus),
        "c": foldAll,
        "r": reverse,
        "n": () => nextMatch(1),
        "N": () => nextMatch(-1),
        "Escape": () => (field.value ? clearSearch() : foldAll()),
    };

    function onKeyInField(e) {
        if (e.key === "Escape") {
            clearSearch();
            field.blur();
        } else if (e.key === "Enter") {
            nextMatch(e.shiftKey ? -1 : 1);
        } else {
            return;
        }
        e.preventDefault();
    }

    function onKey(e) {
        if (e.target === field)
            return onKeyInField(e);
        const find = e.key === "/" || (e.key === "f" && (e.ctrlKey || e.metaKey));
        if (!find && (e.ctrlKey || e.metaKey || e.altKey || !Object.hasOwn(keys, e.key)))
            return;
        if ((e.key === "Enter" || e.key === " ") && e.target.tagName === "BUTTON")
            return;
        if (find) {
            field.focus();
            field.select();
        } else {
            keys[e.key]();
        }
        e.preventDefault();
    }

    function frameOf(e) {
        const element = e.target.closest(".row");
        return element ? Number(element.dataset.frame) : -1;
    }

    room.addEventListener("click", (e) => {
        const i = frameOf(e);
        if (i < 0 || String(window.getSelection())) // text is selected, to be copied
            return;
        main.focus({preventScroll: true});
        setFocus(i);
        setUnfolded(i, !unfolded[i]);
    });
    room.addEventListener("mouseover", (e) => {
        hover = frameOf(e);
        describe();
    });
    room.addEventListener("mouseleave", () => {
        hover = -1;
        describe();
    });
    $(".hottest").addEventListener("click", () => unfoldHottest(focus));
    $(".fold-all").addEventListener("click", foldAll);
    $(".reverse").addEventListener("click", reverse);
    $(".reverse").hidden = Boolean(change);
    field.addEventListener("input", () => search(field.value));
    main.addEventListener("scroll", redraw, {passive: true});
    document.addEventListener("keydown", onKey);
    window.addEventListener("resize", redraw);

    legend();
    begin();

    // For test scripts: the number of frames, each frame, and the listed rows.
    window.callTree = {
        get frames() {
            return COUNT;
        },
        frame: (i) => ({
            index: i, depth: depths[i], value: value[i], self: self[i], samples: samplesOf(i),
            weight: weightOf(i), name: names[nameOf[i]], parent: parent[i], end: end[i],
            kind: profile.classes[classOf[i]].letter, unfolded: unfolded[i] === 1,
            match: i > 0 && matchedName[nameOf[i]] === 1,
        }),
        rows: (from, to) => rows.slice(from, to),
        state: () => ({rows: rows.length, made: made.size, focus, hover, drawn: !pending}),
    };
})();
