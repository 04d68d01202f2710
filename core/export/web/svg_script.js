// Makes the flame graph around this script interactive: zoom, search, keyboard, fluid width.
// Frames are <g class="j3" data-f="depth left samples weight self"><title/><rect/><text/></g> in
// preorder; `left` and `self` are in the counter that sets the widths. In a comparison, a frame
// also has data-d="change flags": the change in percentage points; flags 1: may be chance, 2: new.
// Names are untrusted: they are only read and set as text.
(function () {
    "use strict";

    const SVG = "http://www.w3.org/2000/svg";
    const XHTML = "http://www.w3.org/1999/xhtml";
    const MARGIN = 10;
    const SHORTEST = 5; // columns of a label with an ellipsis
    const LABELS = {
        i: "interpreted", j: "compiled", c: "C1", l: "inlined", n: "native", p: "C++",
        k: "kernel", t: "thread", e: "",
    };
    const HINT = "Click or Enter zooms \u00b7 arrow keys move \u00b7 / searches \u00b7 Esc resets";

    const svg = document.currentScript ? document.currentScript.ownerSVGElement
                                       : document.documentElement;
    const canvas = svg.querySelector(".frames");
    const head = svg.querySelector(".head");
    const fluid = svg.dataset.fluid === "1";
    const up = svg.dataset.up === "1";
    const byWeight = svg.dataset.total === "1";
    const unit = svg.dataset.unit;
    const height = svg.viewBox.baseVal.height;

    const frames = readFrames();
    const all = frames[0];
    let root = all;      // the frame that fills the width
    let focus = null;    // the frame with the keyboard focus
    let hover = null;
    let pattern = null;  // RegExp
    let width = 0;       // of the frames, in pixels
    let charWidth = 7.2;

    // ---- the frames as the file has them ----------------------------------------------------

    function readFrames() {
        const list = [];
        const open = [];
        for (const g of canvas.children) {
            const [depth, left, samples, weight, self] = g.dataset.f.split(" ").map(Number);
            const label = g.querySelector("title").textContent;
            const frame = {
                g, depth, left, samples, weight, self,
                value: byWeight ? weight : samples,
                name: label.slice(0, label.lastIndexOf(" (")),
                rect: g.querySelector("rect"),
                text: g.querySelector("text"),
                parent: depth ? open[depth - 1] : null,
                index: list.length,
                end: list.length + 1,  // first index after the subtree
                shown: true, above: false, match: false, x: -1, w: -1,
                change: null, sign: "",
            };
            if (g.dataset.d)
                readChange(frame, g.dataset.d.split(" ").map(Number));
            open[depth] = frame;
            for (let p = frame.parent; p; p = p.parent)
                p.end = list.length + 1;
            g.frame = frame;
            list.push(frame);
        }
        return list;
    }

    function readChange(frame, [change, flags]) {
        frame.change = change;
        frame.chance = (flags & 1) === 1;
        frame.isNew = (flags & 2) === 2;
        if (!frame.chance)
            frame.sign = points(change) + " ";
    }

    function changeText(f) {
        const before = Math.max(100 * f.value / all.value - f.change, 0).toFixed(2);
        return (f.isNew ? "new" : "before " + before + "%, " + points(f.change)) +
               (f.chance ? ", may be chance" : "");
    }

    function points(n) {
        return (n < 0 ? "" : "+") + n.toFixed(2);
    }

    // ---- numbers as text: the rules of human.c -----------------------------------------------

    const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

    function scaled(v, name) {
        const text = v.toFixed(v < 9.995 ? 2 : v < 99.95 ? 1 : 0);
        return (text.includes(".") ? text.replace(/\.?0+$/, "") : text) + " " + name;
    }

    function duration(ns) {
        const s = Math.floor(ns / 1e9);
        if (s >= 3600)
            return Math.floor(s / 3600) + " h " + Math.floor(s / 60) % 60 + " min";
        if (s >= 60)
            return Math.floor(s / 60) + " min " + s % 60 + " s";
        return ns >= 1e9 ? scaled(ns / 1e9, "s") : ns >= 1e6 ? scaled(ns / 1e6, "ms")
             : ns >= 1e3 ? scaled(ns / 1e3, "us") : ns + " ns";
    }

    function bytes(n) {
        const names = ["B", "KB", "MB", "GB", "TB", "PB"];
        let u = 0;
        for (; n >= 1024 && u < names.length - 1; u++)
            n /= 1024;
        return scaled(n, names[u]);
    }

    const weightText = (n) =>
        unit === "ns" ? duration(n) : unit === "bytes" ? bytes(n) : count(n) + " " + unit;
    const percent = (part, whole) => (whole ? 100 * part / whole : 0).toFixed(2) + "%";

    // ---- labels: the rules of svg_text.c ------------------------------------------------------

    const columnsOf = (c) => (c >= 0x1100 && c !== 0x2026 ? 2 : 1);

    function cut(text, columns) {
        if (text.length <= columns && /^[\x20-\x7e]*$/.test(text))
            return text;
        let out = "";
        for (const c of text) {
            columns -= columnsOf(c.codePointAt(0));
            if (columns < 0)
                break;
            out += c;
        }
        return out;
    }

    function fit(text, columns, java) {
        if (columns < 1)
            return "";
        if (cut(text, columns) === text)
            return text;
        if (java) {
            const rest = text.replace(/^[^(]*\/(?![0-9])/, ""); // without the package
            if (rest && !rest.startsWith("("))
                text = rest;
        }
        if (cut(text, columns) === text)
            return text;
        return columns < SHORTEST ? "" : cut(text, columns - 1) + "\u2026";
    }

    const isJava = (frame) => "ijcl".includes(frame.g.classList[0][0]);

    // ---- drawing ------------------------------------------------------------------------------

    function make(name, attributes, parent) {
        const e = document.createElementNS(SVG, name);
        for (const key in attributes)
            e.setAttribute(key, attributes[key]);
        if (parent)
            parent.appendChild(e);
        return e;
    }

    function placeText(frame) {
        const columns = Math.floor((frame.w * width / 100 - 6) / charWidth);
        const name = frame.shown ? fit(frame.name, columns - frame.sign.length, isJava(frame)) : "";
        const label = name && frame.sign + name;
        if (!frame.text) {
            if (!label)
                return;
            const sample = all.text;
            const dy = Number(sample.getAttribute("y")) - Number(all.rect.getAttribute("y"));
            frame.text = make("text", {
                dx: 3, y: (Number(frame.rect.getAttribute("y")) + dy).toFixed(1),
            }, frame.g);
        }
        if (frame.text.textContent !== label)
            frame.text.textContent = label;
        frame.text.setAttribute("x", frame.x + "%");
    }

    function place(frame, shown, above, x, w) {
        if (frame.shown !== shown) {
            frame.shown = shown;
            frame.g.style.display = shown ? "" : "none";
        }
        if (!shown)
            return;
        if (frame.above !== above) {
            frame.above = above;
            frame.g.classList.toggle("above", above);
        }
        if (frame.x !== x || frame.w !== w) {
            frame.x = x;
            frame.w = w;
            frame.rect.setAttribute("x", x + "%");
            frame.rect.setAttribute("width", w + "%");
        }
        placeText(frame);
    }

    function draw() {
        const scale = root.value ? 100 / root.value : 0;
        for (const f of frames) {
            if (f === all && !root.value)
                place(f, true, false, 0, 100);
            else if (f.index >= root.index && f.index < root.end)
                place(f, true, false, (f.left - root.left) * scale, f.value * scale);
            else if (f.index < root.index && root.index < f.end)
                place(f, true, true, 0, 100);
            else
                place(f, false, false, 0, 0);
        }
        reset.style.display = root === all ? "none" : "";
        showMatches();
        describe();
    }

    function zoom(frame) {
        root = frame;
        if (focus && !isShownIn(focus, frame))
            setFocus(frame);
        draw();
    }

    const isShownIn = (f, r) => (f.index >= r.index && f.index < r.end) ||
                                (f.index < r.index && r.index < f.end);

    function shorten(e, text, room) {
        e.textContent = text;
        if (room <= 0 || !text || e.getComputedTextLength() <= room)
            return;
        let low = 0, high = text.length;
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (e.getSubStringLength(0, middle) <= room - 12)
                low = middle;
            else
                high = middle - 1;
        }
        e.textContent = text.slice(0, low) + "\u2026";
    }

    // ---- the lines in the head ----------------------------------------------------------------

    const title = head.querySelector(".title");
    const subtitle = head.querySelector(".subtitle");
    const titleText = title.textContent;
    const subtitleText = subtitle.textContent;
    const hoverLine = make("text", {class: "hover", x: MARGIN, y: 71}, head);
    const stats = make("text", {class: "stats", x: "100%", dx: -MARGIN, y: 71}, head);
    const corner = make("svg", {x: "100%", y: 0, overflow: "visible", width: 1, height: 1}, head);
    const fieldWidth = 240;
    const box = make("foreignObject", {x: -MARGIN - fieldWidth, y: 10, width: fieldWidth,
                                       height: 28}, corner);
    const field = document.createElementNS(XHTML, "input");
    const reset = make("g", {class: "button reset", role: "button", tabindex: 0}, corner);
    const status = make("text", {class: "status", y: 28}, corner);

    function buildControls() {
        field.setAttribute("type", "text");
        field.setAttribute("placeholder", "Search (regular expression)");
        field.setAttribute("aria-label", "Search frames by regular expression");
        field.setAttribute("spellcheck", "false");
        field.setAttribute("autocomplete", "off");
        box.appendChild(field);
        const x = -MARGIN - fieldWidth - 8 - 86;
        make("rect", {x: x + 0.5, y: 10.5, width: 86, height: 25}, reset);
        make("text", {x: x + 43, y: 27}, reset).textContent = "Reset zoom";
    }

    function describe() {
        const f = hover || focus;
        status.setAttribute("x", -MARGIN - fieldWidth - 10 - (root === all ? 0 : 94));
        if (!f) {
            hoverLine.classList.add("hint");
            shorten(hoverLine, HINT, width);
            stats.textContent = "";
            return;
        }
        const kind = LABELS[f.g.classList[0][0]];
        const parts = [percent(f.value, all.value), count(f.samples) +
                       (f.samples === 1 ? " sample" : " samples"), weightText(f.weight),
                       "self " + percent(f.self, all.value)];
        if (f.change !== null)
            parts.push(changeText(f));
        else if (kind)
            parts.push(kind);
        if (root !== all)
            parts.unshift(percent(f.value, root.value) + " of the zoom");
        stats.textContent = parts.join(" \u00b7 ");
        hoverLine.classList.remove("hint");
        shorten(hoverLine, f.name, width - stats.getComputedTextLength() - 20);
    }

    function showMatches() {
        if (!pattern) {
            status.textContent = field.classList.contains("bad") ? "not a regular expression" : "";
        } else {
            let sum = 0, matches = 0;
            for (let i = root.index, counted = 0; i < root.end; i++) {
                const f = frames[i];
                if (!f.match)
                    continue;
                matches++;
                if (i >= counted) {
                    sum += f.value;
                    counted = f.end; // its subtree is included
                }
            }
            status.textContent = "matched " + percent(sum, root.value) + " \u00b7 " +
                count(matches) + (matches === 1 ? " frame" : " frames");
        }
        layoutHead();
    }

    function layoutHead() {
        const taken = fieldWidth + (root === all ? 0 : 94) +
            (status.textContent ? status.getComputedTextLength() + 10 : 0);
        shorten(title, titleText, Math.max(width - taken - 20, 40));
        shorten(subtitle, subtitleText, width);
    }

    // ---- search -------------------------------------------------------------------------------

    function search(text) {
        let wanted = null;
        let bad = false;
        if (text) {
            try { // case is ignored unless the pattern has capitals
                wanted = new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, "")) ? "" : "i");
            } catch (e) {
                bad = true;
            }
        }
        field.classList.toggle("bad", bad);
        pattern = wanted;
        for (const f of frames) {
            const match = !!wanted && f !== all && wanted.test(f.name);
            if (match !== f.match) {
                f.match = match;
                f.g.classList.toggle("match", match);
            }
        }
        showMatches();
    }

    function clearSearch() {
        field.value = "";
        search("");
    }

    function nextMatch(step) {
        const from = focus ? focus.index : step > 0 ? -1 : frames.length;
        for (let n = 1, i = from; n <= frames.length; n++) {
            i = (i + step + frames.length) % frames.length;
            if (frames[i].match && frames[i].shown && frames[i].w * width >= 100)
                return setFocus(frames[i]);
        }
    }

    // ---- keyboard -----------------------------------------------------------------------------

    function setFocus(frame) {
        if (focus) {
            focus.g.classList.remove("focus");
            focus.g.removeAttribute("tabindex");
        }
        focus = frame;
        if (!frame)
            return describe();
        frame.g.classList.add("focus");
        frame.g.setAttribute("tabindex", "-1");
        if (document.activeElement !== field)
            frame.g.focus({preventScroll: true});
        reveal(frame);
        describe();
    }

    // The head covers the top of the window, so scrollIntoView() alone would hide the frame.
    function reveal(frame) {
        const r = frame.rect.getBoundingClientRect();
        const top = head.getBoundingClientRect().bottom;
        if (r.top < top)
            window.scrollBy(0, r.top - top - 4);
        else if (r.bottom > window.innerHeight)
            window.scrollBy(0, r.bottom - window.innerHeight + 4);
    }

    const isWide = (f) => f.shown && f.w * width >= 100; // at least a pixel

    function child(frame) {
        if (frame.above)
            return frames.find((f) => f.parent === frame && f.shown);
        let best = null;
        for (let i = frame.index + 1; i < frame.end; i = frames[i].end) {
            if (isWide(frames[i]) && (!best || frames[i].value > best.value))
                best = frames[i];
        }
        return best;
    }

    function neighbour(frame, step) {
        for (let i = frame.index + step; i >= 0 && i < frames.length; i += step) {
            if (frames[i].depth === frame.depth && isWide(frames[i]))
                return frames[i];
        }
        return null;
    }

    function move(key) {
        const from = focus || root;
        const to = !focus ? root
                 : key === "ArrowLeft" ? neighbour(from, -1)
                 : key === "ArrowRight" ? neighbour(from, 1)
                 : (key === "ArrowUp") === up ? child(from) : from.parent;
        hover = null; // the keyboard is used, not the pointer
        if (to)
            setFocus(to);
    }

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
        const find = e.key === "f" && (e.ctrlKey || e.metaKey);
        if (!find && (e.ctrlKey || e.metaKey || e.altKey))
            return;
        if (find || e.key === "/") {
            field.focus();
            field.select();
        } else if (e.key.startsWith("Arrow")) {
            move(e.key);
        } else if (e.key === "Enter" || e.key === " ") {
            const button = e.target.closest && e.target.closest(".button");
            if (button)
                zoom(all);
            else if (focus)
                zoom(focus);
            else
                return;
        } else if (e.key === "Backspace") {
            zoom(root.parent || all);
        } else if (e.key === "Home") {
            setFocus(all);
        } else if (e.key === "n" || e.key === "N") {
            nextMatch(e.key === "n" ? 1 : -1);
        } else if (e.key === "Escape") {
            if (pattern || field.value)
                clearSearch();
            else if (root !== all)
                zoom(all);
            else
                setFocus(null);
        } else {
            return;
        }
        e.preventDefault();
    }

    // ---- start --------------------------------------------------------------------------------

    const frameAt = (e) => {
        const g = e.target.closest && e.target.closest(".frames > g");
        return g ? g.frame : null;
    };

    function resize() {
        const total = fluid ? svg.clientWidth || window.innerWidth : svg.viewBox.baseVal.width;
        width = Math.max(total - 2 * MARGIN, 50);
        canvas.setAttribute("width", width);
        const length = all.text ? all.text.getComputedTextLength() : 0;
        if (length > 0 && all.text.textContent === all.name)
            charWidth = length / all.name.length;
        draw();
    }

    function stick() {
        const top = svg.getBoundingClientRect().top;
        head.setAttribute("transform", "translate(0," + Math.max(0, -top) + ")");
    }

    buildControls();
    if (fluid) {
        svg.setAttribute("width", "100%");
        svg.removeAttribute("viewBox");
    }
    canvas.addEventListener("click", (e) => {
        const f = frameAt(e);
        if (!f)
            return;
        setFocus(f);
        zoom(f);
    });
    canvas.addEventListener("mouseover", (e) => {
        hover = frameAt(e);
        describe();
    });
    canvas.addEventListener("mouseleave", () => {
        hover = null;
        describe();
    });
    reset.addEventListener("click", () => zoom(all));
    field.addEventListener("input", () => search(field.value));
    document.addEventListener("keydown", onKey);
    window.addEventListener("resize", resize);
    window.addEventListener("scroll", stick, {passive: true});
    resize();
    if (up && svg === document.documentElement)
        window.scrollTo(0, height); // the roots are at the bottom
    stick();
})();
