// Draws the flame graph of this page. Only visible frames are drawn, and of those narrower than
// half a pixel one per pixel. Looks and keys are those of svg_script.js; keys i and r are added.
(function () {
    "use strict";

    const ROW = 16;
    const FONT = 12;
    const SHORTEST = 5; // columns of a label with an ellipsis
    const LABEL_FROM = 6 + 8; // pixels; a narrower frame has no label
    const MOST_MATCHED = "#ee00ee";
    const HINT = "Click or Enter zooms \u00b7 arrow keys move \u00b7 / searches \u00b7 " +
        "i puts roots at top or bottom \u00b7 r starts stacks at the leaf \u00b7 Esc resets";

    const $ = (selector) => document.querySelector(selector);
    const {profile, byWeight, names, shades, count, weightText, percent, points, patternOf} = page;
    const main = $("main"), room = $(".room"), canvas = $("canvas");
    const field = $("input"), reset = $(".reset"), status = $(".status");
    const hoverLine = $(".hover"), stats = $(".stats");
    const context = canvas.getContext("2d");
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const matchedName = new Uint8Array(names.length);
    const ends = [page.frames, null]; // 0: shown; 1: the reverse, null: not made yet
    let {COUNT, levels, depths, nameOf, classOf, left, value, other, self, parent, end, change,
         flags} = page.frames;

    let up = !profile.inverted;
    let zoomed = 0;     // the frame that fills the width
    let focus = -1;     // the frame with the keyboard focus
    let hover = -1;
    let pattern = null; // RegExp
    let width = 0;      // pixels
    let charWidth = 7.2;
    let pending = false;

    // ---- labels: the rules of svg_text.c -------------------------------------------------------

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

    // A changed frame's label begins with the change: colour alone would not be accessible.
    function labelOf(i, columns) {
        const sign = change && i && !(flags[i] & 1) ? points(change[i]) + " " : "";
        const name = fit(names[nameOf[i]], columns - sign.length, isJava(i));
        return name && sign + name;
    }

    const isJava = (i) => "ijcl".includes(profile.classes[classOf[i]].letter);

    // ---- drawing -------------------------------------------------------------------------------

    // The space above the frames. It puts the roots at the bottom of the window even if there are
    // fewer levels than rows.
    const offset = () => (up ? Math.max(main.clientHeight - levels * ROW, 0) : 0);
    const rowY = (depth) => (up ? levels - 1 - depth : depth) * ROW + offset();
    const depthAt = (y) => {
        const row = Math.floor((y - offset()) / ROW);
        return up ? levels - 1 - row : row;
    };
    const isIn = (i, top) => i >= top && i < end[top];
    const isAround = (i) => i < zoomed && zoomed < end[i];
    const isMatch = (i) => i > 0 && matchedName[nameOf[i]] === 1;
    const place = (i) => {
        const whole = value[zoomed] || 1;
        return isAround(i) || !value[zoomed] ? [0, width]
             : [(left[i] - left[zoomed]) / whole * width, value[i] / whole * width];
    };

    function changeShade(i) {
        const size = Math.abs(change[i]);
        if (flags[i] & 1 || size < 0.005)
            return 4;
        const step = size > 5 ? 4 : size > 2 ? 3 : size > 0.5 ? 2 : 1;
        return change[i] < 0 ? 4 - step : 4 + step;
    }

    function colourOf(i) {
        if (isMatch(i))
            return MOST_MATCHED;
        if (change && i)
            return profile.changes[changeShade(i)];
        return profile.classes[classOf[i]].colours[shades[nameOf[i]]];
    }

    function drawFrame(i, x, w, top) {
        const y = rowY(depths[i]) - top;
        const dim = isAround(i);
        const matched = isMatch(i);
        context.globalAlpha = matched ? 1 : dim ? (dark.matches ? 0.35 : 0.45)
                                              : dark.matches ? 0.82 : 1;
        context.fillStyle = colourOf(i);
        context.fillRect(x, y, Math.max(w - (w > 3 ? 0.5 : 0), 0.5), ROW - 1);
        context.globalAlpha = 1;
        if (i === hover || i === focus) {
            context.strokeStyle = i === focus ? (dark.matches ? "#79b8ff" : "#0550ae")
                                              : dark.matches ? "#ffffff" : "#14181c";
            context.lineWidth = i === focus ? 2 : 1;
            context.strokeRect(x + 0.5, y + 0.5, Math.max(w - 1.5, 1), ROW - 2);
        }
        if (w < LABEL_FROM)
            return;
        const label = labelOf(i, Math.floor((w - 6) / charWidth));
        if (!label)
            return;
        context.fillStyle = matched ? "#ffffff" : dim && dark.matches ? "#e6edf3"
                          : dark.matches ? "#0b0e11" : "#14181c";
        context.fillText(label, x + 3, y + (ROW - 1) / 2 + FONT * 0.35);
    }

    function draw() {
        pending = false;
        const ratio = window.devicePixelRatio || 1;
        const high = main.clientHeight, top = main.scrollTop;
        if (canvas.width !== Math.round(width * ratio) ||
            canvas.height !== Math.round(high * ratio)) {
            canvas.width = Math.round(width * ratio);
            canvas.height = Math.round(high * ratio);
            canvas.style.width = width + "px";
            canvas.style.height = high + "px";
        }
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, width, high);
        context.font = FONT + "px ui-monospace, Menlo, Consolas, \"DejaVu Sans Mono\", monospace";
        charWidth = context.measureText("0").width || 7.2;
        // The visible rows, as depths.
        const a = depthAt(up ? top + high : top), b = depthAt(up ? top : top + high);
        for (let i = parent[zoomed]; i >= 0; i = parent[i]) {
            if (depths[i] >= a && depths[i] <= b)
                drawFrame(i, 0, width, top);
        }
        const painted = new Int32Array(levels + 1).fill(-1); // pixel of the last narrow frame
        const scale = value[zoomed] ? width / value[zoomed] : 0;
        for (let i = zoomed; i < end[zoomed];) {
            const d = depths[i];
            const x = (left[i] - left[zoomed]) * scale;
            const w = value[zoomed] ? value[i] * scale : width;
            if (w < 0.5) {
                const pixel = Math.floor(x);
                if (painted[d] === pixel) {
                    i = end[i];
                    continue;
                }
                painted[d] = pixel;
            }
            if (d >= a && d <= b)
                drawFrame(i, x, w, top);
            i = d >= b ? end[i] : i + 1;
        }
    }

    function redraw() {
        if (!pending)
            window.requestAnimationFrame(draw);
        pending = true;
    }

    function frameAt(x, y) {
        const depth = depthAt(y + main.scrollTop);
        if (depth < 0 || depth >= levels || x < 0 || x >= width)
            return -1;
        let at = zoomed;
        if (depth < depths[zoomed]) {
            while (depths[at] > depth)
                at = parent[at];
            return at;
        }
        const wanted = left[zoomed] + x / width * value[zoomed];
        while (depths[at] < depth) {
            let child = at + 1;
            while (child < end[at] && left[child] + value[child] <= wanted)
                child = end[child];
            if (child >= end[at])
                return -1;
            at = child;
        }
        return at;
    }

    // ---- text about a frame --------------------------------------------------------------------

    function statsOf(i) {
        const samples = byWeight ? other[i] : value[i], weight = byWeight ? value[i] : other[i];
        const parts = [percent(value[i], value[0]),
                       count(samples) + (samples === 1 ? " sample" : " samples"),
                       weightText(weight), "self " + percent(self[i], value[0])];
        if (change && i)
            parts.push(changeText(i));
        else if (i && profile.classes[classOf[i]].letter !== "e")
            parts.push(profile.classes[classOf[i]].label);
        if (zoomed)
            parts.unshift(percent(value[i], value[zoomed]) + " of the zoom");
        return parts.join(" \u00b7 ");
    }

    function changeText(i) {
        const before = Math.max(100 * value[i] / value[0] - change[i], 0);
        return (flags[i] & 2 ? "new" : "before " + before.toFixed(2) + "%, " + points(change[i])) +
               (flags[i] & 1 ? ", may be chance" : "");
    }

    function describe() {
        const i = hover >= 0 ? hover : focus;
        hoverLine.classList.toggle("hint", i < 0);
        hoverLine.textContent = i < 0 ? HINT : names[nameOf[i]];
        stats.textContent = i < 0 ? "" : statsOf(i);
        canvas.title = hover < 0 ? "" : names[nameOf[hover]] + "\n" + statsOf(hover);
    }

    function showMatches() {
        if (!pattern) {
            status.textContent = field.classList.contains("bad") ? "not a regular expression" : "";
            return;
        }
        let sum = 0, matches = 0;
        for (let i = zoomed, counted = 0; i < end[zoomed]; i++) {
            if (!isMatch(i))
                continue;
            matches++;
            if (i >= counted) {
                sum += value[i];
                counted = end[i]; // its subtree is included
            }
        }
        status.textContent = "matched " + percent(sum, value[zoomed]) + " \u00b7 " +
            count(matches) + (matches === 1 ? " frame" : " frames");
    }

    function legend() {
        const footer = $("footer");
        function item(colour, text) {
            const span = document.createElement("span");
            if (colour) {
                const square = document.createElement("i");
                square.style.background = colour;
                span.appendChild(square);
            }
            span.append(text);
            footer.appendChild(span);
        }
        if (change) {
            item(profile.changes[8], "+ more than before");
            item(profile.changes[0], "- less");
            item(profile.changes[4], "change may be chance");
        } else {
            for (const c of profile.classes) {
                if (c.used)
                    item(c.colours[3], c.label);
            }
        }
        if (!profile.samples)
            item("", "no samples");
        else if (profile.hidden > 0)
            item("", "frames under " + Number(profile.hidden.toPrecision(2)) + "% are not drawn");
    }

    // ---- zoom and search -----------------------------------------------------------------------

    function zoom(i) {
        zoomed = i;
        reset.hidden = !zoomed;
        if (focus >= 0 && !isIn(focus, i) && !isAround(focus))
            setFocus(i);
        hover = -1;
        showMatches();
        describe();
        redraw();
    }

    function turnOver() {
        const bottom = main.scrollTop + main.clientHeight >= main.scrollHeight - 1;
        up = !up;
        hover = -1;
        main.scrollTop = up ? main.scrollHeight : bottom ? 0 : main.scrollTop;
        if (focus >= 0)
            reveal(focus);
        describe();
        redraw();
    }

    function reverse() {
        if (change)
            return; // changes are known only for stacks from the root
        ends[1] = ends[1] || page.reversed();
        ends.reverse();
        ({COUNT, levels, depths, nameOf, classOf, left, value, other, self, parent, end, change,
          flags} = ends[0]);
        focus = -1;
        zoom(0);
        resize();
        main.scrollTop = up ? main.scrollHeight : 0;
    }

    function search(text) {
        const wanted = text ? patternOf(text) : null;
        field.classList.toggle("bad", Boolean(text) && !wanted);
        pattern = wanted;
        for (let n = 1; n < names.length; n++)
            matchedName[n] = wanted && wanted.test(names[n]) ? 1 : 0;
        showMatches();
        redraw();
    }

    function clearSearch() {
        field.value = "";
        search("");
    }

    const isWide = (i) => (isIn(i, zoomed) || isAround(i)) && place(i)[1] >= 1;

    function nextMatch(step) {
        let i = focus >= 0 ? focus : step > 0 ? -1 : COUNT;
        for (let n = 0; n < COUNT; n++) {
            i = (i + step + COUNT) % COUNT;
            if (isMatch(i) && isWide(i))
                return setFocus(i);
        }
    }

    // ---- keyboard ------------------------------------------------------------------------------

    function setFocus(i) {
        focus = i;
        if (i >= 0)
            reveal(i);
        describe();
        redraw();
    }

    function reveal(i) {
        const y = rowY(depths[i]);
        if (y < main.scrollTop)
            main.scrollTop = y - 4;
        else if (y + ROW > main.scrollTop + main.clientHeight)
            main.scrollTop = y + ROW + 4 - main.clientHeight;
    }

    function child(i) {
        if (isAround(i)) {
            let at = zoomed;
            while (parent[at] !== i)
                at = parent[at];
            return at;
        }
        let best = -1;
        for (let c = i + 1; c < end[i]; c = end[c]) {
            if (isWide(c) && (best < 0 || value[c] > value[best]))
                best = c;
        }
        return best;
    }

    function neighbour(i, step) {
        for (let at = i + step; at >= 0 && at < COUNT; at += step) {
            if (depths[at] === depths[i] && isWide(at))
                return at;
        }
        return -1;
    }

    function move(key) {
        const to = focus < 0 ? zoomed
                 : key === "ArrowLeft" ? neighbour(focus, -1)
                 : key === "ArrowRight" ? neighbour(focus, 1)
                 : (key === "ArrowUp") === up ? child(focus) : parent[focus];
        hover = -1; // the keyboard is used, not the pointer
        if (to >= 0)
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

    function onEscape() {
        if (pattern || field.value)
            clearSearch();
        else if (zoomed)
            zoom(0);
        else
            setFocus(-1);
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
            if (e.target.tagName === "BUTTON" || focus < 0)
                return;
            zoom(focus);
        } else if (e.key === "Backspace") {
            zoom(Math.max(parent[zoomed], 0));
        } else if (e.key === "Home") {
            setFocus(0);
        } else if (e.key === "n" || e.key === "N") {
            nextMatch(e.key === "n" ? 1 : -1);
        } else if (e.key === "i") {
            turnOver();
        } else if (e.key === "r") {
            reverse();
        } else if (e.key === "Escape") {
            onEscape();
        } else {
            return;
        }
        e.preventDefault();
    }

    // ---- start ---------------------------------------------------------------------------------

    function resize() {
        width = Math.max(main.clientWidth, 50);
        room.style.height = Math.max(levels * ROW, main.clientHeight) + "px";
        redraw();
    }

    canvas.addEventListener("click", (e) => {
        const i = frameAt(e.offsetX, e.offsetY);
        if (i < 0)
            return;
        main.focus({preventScroll: true});
        setFocus(i);
        zoom(i);
    });
    canvas.addEventListener("mousemove", (e) => {
        const i = frameAt(e.offsetX, e.offsetY);
        if (i === hover)
            return;
        hover = i;
        describe();
        redraw();
    });
    canvas.addEventListener("mouseleave", () => {
        hover = -1;
        describe();
        redraw();
    });
    reset.addEventListener("click", () => zoom(0));
    $(".invert").addEventListener("click", turnOver);
    $(".reverse").addEventListener("click", reverse);
    $(".reverse").hidden = Boolean(change);
    field.addEventListener("input", () => search(field.value));
    main.addEventListener("scroll", redraw, {passive: true});
    document.addEventListener("keydown", onKey);
    window.addEventListener("resize", resize);
    dark.addEventListener("change", redraw);
    legend();
    resize();
    main.scrollTop = up ? main.scrollHeight : 0;
    describe();

    // For test scripts: the number of frames, each frame and where it is, and the page's state.
    window.flameGraph = {
        get frames() {
            return COUNT;
        },
        frame: (i) => {
            const [x, w] = place(i), box = canvas.getBoundingClientRect();
            return {
                index: i, depth: depths[i], left: left[i], value: value[i], other: other[i],
                self: self[i], name: names[nameOf[i]], parent: parent[i], end: end[i],
                kind: profile.classes[classOf[i]].letter, change: change ? change[i] : null,
                shown: isIn(i, zoomed) || isAround(i), above: isAround(i), match: isMatch(i),
                x: box.x + x, y: box.y + rowY(depths[i]) - main.scrollTop, w, h: ROW - 1,
            };
        },
        state: () => ({zoomed, focus, hover, up, drawn: !pending}),
    };
})();
