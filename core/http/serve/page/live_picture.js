// Writes the flame graph, as it is shown, as a standalone SVG file.
const picture = (() => {
    const NS = "http://www.w3.org/2000/svg";
    const WIDTH = 1200, ROW = 17, HEAD = 44, LETTER = 7.2, LEAST = 0.3;

    function shape(tag, attributes, text) {
        const e = document.createElementNS(NS, tag);
        for (const [name, value] of Object.entries(attributes))
            e.setAttribute(name, value);
        if (text !== undefined)
            e.textContent = clean(text);
        return e;
    }

    // Replaces characters that are invalid in XML.
    const clean = (text) => Array.from(text, (c) =>
        (c < " " || c === "\ufffe" || c === "\uffff" || /[\ud800-\udfff]/.test(c) && c.length === 1
            ? "?" : c)).join("");

    function frame(flame, i, x, w, y) {
        const t = flame.tree, g = shape("g", {});
        const fill = flame.colour(i);
        g.append(shape("title", {}, t.name(i) + " \u00b7 " + flame.stats(i)),
                 shape("rect", {x: x.toFixed(1), y, width: Math.max(w - 0.3, 0.2).toFixed(1),
                                height: ROW - 1, fill}));
        const label = flame.labelOf(i, Math.floor((w - 6) / LETTER));
        if (label)
            g.append(shape("text", {x: (x + 3).toFixed(1), y: y + 12}, label));
        return g;
    }

    function svg(flame, title) {
        const t = flame.tree, top = flame.zoomed, whole = t.value[top] || 1;
        const subtitle = flame.stats(top) +
            (t.changes ? " \u00b7 against a baseline: red is more than before, blue is less" : "");
        let levels = 0;
        const frames = [];
        for (let i = top; i < t.end[top]; i++) {
            const w = t.value[i] / whole * WIDTH;
            if (w < LEAST && i !== top)
                continue;
            const depth = t.depth[i] - t.depth[top];
            levels = Math.max(levels, depth + 1);
            frames.push(frame(flame, i, (t.left[i] - t.left[top]) / whole * WIDTH, w,
                              HEAD + depth * ROW));
        }
        const high = HEAD + levels * ROW + 6;
        const root = shape("svg", {xmlns: NS, width: WIDTH, height: high,
                                   viewBox: `0 0 ${WIDTH} ${high}`,
                                   "font-family": "monospace", "font-size": 12});
        root.append(shape("rect", {width: "100%", height: "100%", fill: "#ffffff"}),
                    shape("text", {x: 4, y: 18, "font-size": 16}, title),
                    shape("text", {x: 4, y: 36, fill: "#57606a"}, subtitle), ...frames);
        return new XMLSerializer().serializeToString(root);
    }

    // Returns the name of a file that is saved now.
    function named(name) {
        const when = new Date().toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "-");
        return `${name}-${when}.svg`;
    }

    function save(text, name) {
        const url = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}));
        const link = make("a");
        link.href = url;
        link.download = name;
        document.body.append(link);
        link.click();
        link.remove();
        window.setTimeout(() => URL.revokeObjectURL(url), 10000);
    }

    // Saves the flame graph of this JVM and event as a file.
    function saveFlame(flame, jvmName, pid, event) {
        if (flame.tree)
            picture.save(svg(flame, `${jvmName} (${pid}): ${event}`),
                         named(`jtop-prof-${pid}-${event}`));
    }

    return {svg, save, saveFlame};
})();
