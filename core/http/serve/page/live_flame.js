// The flame graph. The roots are at the top, so that frames do not move when stacks get deeper.
// Only visible frames are drawn, and of those narrower than half a pixel one per pixel. The zoomed
// and the focused frame are found again in the next view by the names on their paths.
class Flame {
    constructor({box, canvas, detail, path, back, changed}) {
        Object.assign(this, {box, canvas, detail, crumbs: path, back, changed});
        this.context = canvas.getContext("2d");
        this.tree = null;
        this.unit = "ns";
        this.zoomPath = [];
        this.focusPath = null;
        this.zoomed = 0;
        this.focus = -1;
        this.hover = -1;
        this.pattern = null;
        this.names = null; // by name: 1 if it matches
        this.pending = false;
        this.listen();
        theme.changed(() => this.redraw());
        new ResizeObserver(() => this.resize()).observe(box);
    }

    listen() {
        const at = (e) => this.frameAt(e.offsetX, e.offsetY);
        this.canvas.addEventListener("click", (e) => {
            const i = at(e);
            if (i < 0)
                return;
            this.box.focus({preventScroll: true});
            this.zoom(i);
        });
        this.canvas.addEventListener("mousemove", (e) => this.point(at(e)));
        this.canvas.addEventListener("mouseleave", () => this.point(-1));
        this.box.addEventListener("scroll", () => this.redraw(), {passive: true});
        this.back.addEventListener("click", () => this.zoom(0));
    }

    // ---- what is shown -------------------------------------------------------------------------

    set(tree, unit) {
        this.tree = tree;
        this.unit = unit;
        let top = tree.find(this.zoomPath);
        for (let path = this.zoomPath; top < 0; top = tree.find(path))
            path = path.slice(0, -1); // if the frame is gone: its caller
        this.zoomed = top;
        this.focus = this.focusPath ? tree.find(this.focusPath) : -1;
        this.hover = -1;
        this.search(this.pattern);
        this.resize();
        this.describe();
    }

    clear() {
        this.tree = null;
        this.zoomPath = [];
        this.focusPath = null;
        this.redraw();
    }

    search(pattern) {
        this.pattern = pattern;
        this.names = this.tree && pattern ? this.tree.matching(pattern) : null;
        this.redraw();
    }

    matchText() {
        if (!this.tree || !this.names)
            return "";
        const {sum, frames} = this.tree.matched(this.names, this.zoomed);
        return `matched ${numbers.percent(sum, this.tree.value[this.zoomed])} \u00b7 ` +
            `${numbers.count(frames)} ${frames === 1 ? "frame" : "frames"}`;
    }

    // ---- geometry ------------------------------------------------------------------------------

    resize() {
        this.width = Math.max(this.box.clientWidth, 50);
        const levels = this.tree ? this.tree.levels : 1;
        this.canvas.parentNode.style.height =
            Math.max(levels * Flame.ROW, this.box.clientHeight - 1) + "px";
        this.redraw();
    }

    place(i) {
        const t = this.tree, whole = t.value[this.zoomed];
        if (t.isAround(i, this.zoomed) || !whole)
            return [0, this.width];
        return [(t.left[i] - t.left[this.zoomed]) / whole * this.width,
                t.value[i] / whole * this.width];
    }

    frameAt(x, y) {
        const t = this.tree;
        const depth = Math.floor((y + this.box.scrollTop) / Flame.ROW);
        if (!t || depth < 0 || depth >= t.levels || x < 0 || x >= this.width)
            return -1;
        let at = this.zoomed;
        if (depth < t.depth[at]) {
            while (t.depth[at] > depth)
                at = t.parent[at];
            return at;
        }
        const wanted = t.left[at] + x / this.width * t.value[at];
        while (t.depth[at] < depth) {
            let child = at + 1;
            while (child < t.end[at] && t.left[child] + t.value[child] <= wanted)
                child = t.end[child];
            if (child >= t.end[at])
                return -1;
            at = child;
        }
        return at;
    }

    // ---- drawing -------------------------------------------------------------------------------

    redraw() {
        if (!this.pending)
            window.requestAnimationFrame(() => this.draw());
        this.pending = true;
    }

    fitCanvas(high) {
        const ratio = window.devicePixelRatio || 1, c = this.canvas;
        const w = Math.round(this.width * ratio), h = Math.round(high * ratio);
        if (c.width !== w || c.height !== h) {
            c.width = w;
            c.height = h;
            c.style.width = this.width + "px";
            c.style.height = high + "px";
        }
        this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.context.clearRect(0, 0, this.width, high);
        this.context.font = Flame.FONT;
        this.letter = this.context.measureText("0").width || 7.2;
    }

    draw() {
        this.pending = false;
        const t = this.tree, high = this.box.clientHeight, top = this.box.scrollTop;
        if (!this.width || !high)
            return;
        this.fitCanvas(high);
        this.dark = theme.dark();
        if (!t)
            return;
        const first = Math.floor(top / Flame.ROW), last = Math.floor((top + high) / Flame.ROW);
        for (let i = t.parent[this.zoomed]; i >= 0; i = t.parent[i]) {
            if (t.depth[i] >= first && t.depth[i] <= last)
                this.drawFrame(i, 0, this.width, top);
        }
        const whole = t.value[this.zoomed], scale = whole ? this.width / whole : 0;
        const painted = new Int32Array(t.levels + 1).fill(-1); // pixel of the last narrow frame
        for (let i = this.zoomed; i < t.end[this.zoomed];) {
            const d = t.depth[i], w = whole ? t.value[i] * scale : this.width;
            const x = (t.left[i] - t.left[this.zoomed]) * scale;
            if (w < 0.5) {
                const pixel = Math.floor(x);
                if (painted[d] === pixel) {
                    i = t.end[i];
                    continue;
                }
                painted[d] = pixel;
            }
            if (d >= first && d <= last)
                this.drawFrame(i, x, w, top);
            i = d >= last ? t.end[i] : i + 1;
        }
    }

    isMatch(i) {
        return Boolean(this.names && i > 0 && this.names[this.tree.nameOf[i]]);
    }

    colour(i) {
        const t = this.tree, change = t.change(i);
        return this.isMatch(i) ? colours.MATCHED : change ? colours.changes[change.shade]
             : colours.frame(t.look[i], t.name(i));
    }

    drawFrame(i, x, w, top) {
        const c = this.context, t = this.tree, y = t.depth[i] * Flame.ROW - top;
        const matched = this.isMatch(i), above = t.isAround(i, this.zoomed);
        c.globalAlpha = matched ? 1 : above ? (this.dark ? 0.35 : 0.45) : this.dark ? 0.86 : 1;
        c.fillStyle = this.colour(i);
        c.fillRect(x, y, Math.max(w - (w > 3 ? 0.5 : 0), 0.5), Flame.ROW - 1);
        c.globalAlpha = 1;
        if (i === this.hover || i === this.focus) {
            c.strokeStyle = i === this.focus ? (this.dark ? "#79b8ff" : "#0550ae")
                                             : this.dark ? "#ffffff" : "#14181c";
            c.lineWidth = i === this.focus ? 2 : 1;
            c.strokeRect(x + 0.5, y + 0.5, Math.max(w - 1.5, 1), Flame.ROW - 2);
        }
        const label = this.labelOf(i, Math.floor((w - 6) / this.letter));
        if (!label)
            return;
        c.fillStyle = matched ? "#000000" : above && this.dark ? "#e6edf3" : "#0b0e11";
        c.fillText(label, x + 3, y + Flame.ROW / 2 + 4);
    }

    // A changed frame's label begins with the change: colour alone would not be accessible. If there
    // is little room, it is the change, or only its sign.
    labelOf(i, letters) {
        const change = this.tree.change(i);
        if (!change || change.chance)
            return Flame.fit(this.tree.name(i), letters);
        const sign = numbers.points(change.points, 2);
        const name = Flame.fit(this.tree.name(i), letters - sign.length - 1);
        return name ? `${sign} ${name}` : letters >= sign.length ? sign
             : letters > 0 ? sign[0] : "";
    }

    // "before 1.20%, +0.80": as in the files of `diff`.
    static changeText(change) {
        const from = `before ${change.before.toFixed(2)}%, ${numbers.points(change.points, 2)}`;
        return (change.new ? "new" : from) + (change.chance ? ", may be chance" : "");
    }

    // Shortens a name to `letters` characters: without its package, and if that is still too long,
    // to its beginning. "" if there is too little room.
    static fit(name, letters) {
        if (letters < 3)
            return "";
        if (name.length > letters)
            name = name.replace(/^(?:[\w$]+[./])+(?=[A-Z]\w*[.$])/, "");
        return name.length <= letters ? name
             : letters < 5 ? "" : name.slice(0, letters - 1) + "\u2026";
    }

    // ---- text about a frame --------------------------------------------------------------------

    point(i) {
        if (i === this.hover)
            return;
        this.hover = i;
        this.describe();
        this.redraw();
    }

    stats(i) {
        const t = this.tree, parts = [];
        if (this.zoomed)
            parts.push(numbers.percent(t.value[i], t.value[this.zoomed]) + " of the zoom");
        parts.push(numbers.percent(t.value[i], t.value[0]),
                   numbers.weight(t.value[i], this.unit), numbers.count(t.samples[i]) + " samples",
                   "self " + numbers.percent(t.self[i], t.value[0]));
        const change = t.change(i);
        if (i)
            parts.push(change ? Flame.changeText(change) : colours.looks[t.look[i]].label);
        return parts.join(" \u00b7 ");
    }

    describe() {
        const t = this.tree, i = this.hover >= 0 ? this.hover : this.focus;
        if (!t)
            return;
        const at = i >= 0 ? i : this.zoomed;
        setText(this.detail, t.name(at) + " \u00b7 " + this.stats(at));
        this.canvas.title =
            this.hover >= 0 ? t.name(this.hover) + "\n" + this.stats(this.hover) : "";
        this.back.hidden = !this.zoomed;
        setText(this.crumbs, this.zoomed ? "zoomed: " + t.name(this.zoomed) : "");
    }

    // ---- zoom and keys -------------------------------------------------------------------------

    zoom(i) {
        if (!this.tree)
            return;
        this.zoomed = i;
        this.zoomPath = this.tree.path(i);
        this.setFocus(i || (this.focus >= 0 ? 0 : -1));
        this.changed();
    }

    setFocus(i) {
        this.focus = i;
        this.focusPath = i >= 0 ? this.tree.path(i) : null;
        this.hover = -1;
        if (i >= 0) {
            const y = this.tree.depth[i] * Flame.ROW, high = this.box.clientHeight;
            if (y < this.box.scrollTop)
                this.box.scrollTop = y;
            else if (y + 2 * Flame.ROW > this.box.scrollTop + high)
                this.box.scrollTop = y + 2 * Flame.ROW - high;
        }
        this.describe();
        this.redraw();
    }

    isWide(i) {
        const t = this.tree;
        return (t.isIn(i, this.zoomed) || t.isAround(i, this.zoomed)) && this.place(i)[1] >= 1;
    }

    child(i) {
        const t = this.tree;
        let best = -1;
        if (t.isAround(i, this.zoomed)) {
            for (best = this.zoomed; t.parent[best] !== i;)
                best = t.parent[best];
            return best;
        }
        for (let c = i + 1; c < t.end[i]; c = t.end[c]) {
            if (this.isWide(c) && (best < 0 || t.value[c] > t.value[best]))
                best = c;
        }
        return best;
    }

    neighbour(i, step) {
        for (let at = i + step; at >= 0 && at < this.tree.count; at += step) {
            if (this.tree.depth[at] === this.tree.depth[i] && this.isWide(at))
                return at;
        }
        return -1;
    }

    nextMatch(step) {
        const t = this.tree;
        for (let n = 0, i = Math.max(this.focus, 0); t && n < t.count; n++) {
            i = (i + step + t.count) % t.count;
            if (this.isMatch(i) && this.isWide(i))
                return this.setFocus(i);
        }
    }

    // Moves the focus to the end of the heaviest path.
    hottest() {
        let i = this.focus >= 0 ? this.focus : this.zoomed;
        for (let c = this.child(i); c >= 0; c = this.child(i))
            i = c;
        this.setFocus(i);
    }

    move(key) {
        if (!this.tree)
            return;
        const i = this.focus;
        const to = i < 0 ? this.zoomed
                 : key === "ArrowLeft" ? this.neighbour(i, -1)
                 : key === "ArrowRight" ? this.neighbour(i, 1)
                 : key === "ArrowDown" ? this.child(i) : this.tree.parent[i];
        if (to >= 0)
            this.setFocus(to);
    }

    // For test scripts: a frame, and where it is on the screen.
    frame(i) {
        const t = this.tree, [x, w] = this.place(i), b = this.canvas.getBoundingClientRect();
        return {
            index: i, name: t.name(i), depth: t.depth[i], value: t.value[i], parent: t.parent[i],
            end: t.end[i], match: this.isMatch(i), kind: colours.looks[t.look[i]].letter,
            change: t.change(i), colour: this.colour(i),
            label: this.labelOf(i, Math.floor((w - 6) / this.letter)),
            shown: t.isIn(i, this.zoomed) || t.isAround(i, this.zoomed),
            x: b.x + x, y: b.y + t.depth[i] * Flame.ROW - this.box.scrollTop, w, h: Flame.ROW - 1,
        };
    }
}
Flame.ROW = 18;
Flame.FONT = "12px ui-monospace, Menlo, Consolas, \"DejaVu Sans Mono\", monospace";
