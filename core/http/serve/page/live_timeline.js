// The timeline: the weight of each second, and below it how long the VM was stopped, by the garbage
// collector or for another reason. A click or a drag chooses a time window, and the page pauses
// there. The mouse shows the values of a second.
class Timeline {
    constructor({canvas, tip, label, chosen}) {
        this.canvas = canvas;
        this.tip = tip; // the values of a second, beside the mouse
        this.label = label;
        this.chosen = chosen; // (from, to): seconds of the samples' clock, both included
        this.context = canvas.getContext("2d");
        this.line = null;
        this.window = null; // the chosen window, while paused
        this.before = null; // the baseline's seconds
        this.drag = null;
        this.hover = -1; // a second
        this.pending = false;
        this.listen();
        theme.changed(() => this.redraw());
        new ResizeObserver(() => this.redraw()).observe(canvas);
    }

    listen() {
        const c = this.canvas;
        c.addEventListener("pointerdown", (e) => {
            if (!this.line || e.button !== 0)
                return;
            c.setPointerCapture(e.pointerId);
            this.drag = {from: this.secondAt(e.offsetX), to: this.secondAt(e.offsetX)};
            this.redraw();
        });
        c.addEventListener("pointermove", (e) => {
            if (this.drag)
                this.drag.to = this.secondAt(e.offsetX);
            this.point(e.offsetX);
        });
        c.addEventListener("pointerup", () => this.drop());
        c.addEventListener("pointercancel", () => {
            this.drag = null;
            this.leave();
        });
        c.addEventListener("pointerleave", () => this.leave());
    }

    drop() {
        if (!this.drag)
            return;
        let {from, to} = this.drag;
        this.drag = null;
        if (from > to)
            [from, to] = [to, from];
        if (from === to) { // a click chooses what a fingertip covers
            const around = Math.floor(this.perPixel() * Timeline.FINGER);
            from -= around;
            to += around;
        }
        this.chosen(Math.max(from, this.oldest()), Math.min(to, this.latest()));
    }

    oldest() {
        return this.line.from;
    }

    latest() {
        return this.line.from + this.line.samples.length - 1;
    }

    // Returns the seconds that the timeline spans: the smallest of SPANS that is enough, so that a
    // profile that has just begun does not shrink into a corner.
    seconds() {
        const n = this.line ? this.line.samples.length : 0;
        return Timeline.SPANS.find((span) => span >= n) || Timeline.SPANS[0];
    }

    begin() {
        return this.latest() - this.seconds() + 1; // at the left edge
    }

    wide() {
        return Math.max(this.canvas.clientWidth - Timeline.LEFT, 1);
    }

    perPixel() {
        return this.seconds() / this.wide();
    }

    xOf(second) {
        return Timeline.LEFT + (second - this.begin()) / this.perPixel();
    }

    secondAt(x) {
        const s = this.line
            ? Math.floor(this.begin() + (x - Timeline.LEFT) * this.perPixel()) : 0;
        return this.line ? Math.min(Math.max(s, this.oldest()), this.latest()) : 0;
    }

    // `unix`: offset from the samples' clock to Unix time, in seconds.
    set(line, unix, unit, event) {
        this.line = line && line.samples.length ? line : null;
        this.unix = unix || 0;
        this.unit = unit;
        this.event = event;
        this.window = null;
        if (!this.drag)
            this.describe();
        if (this.hover >= 0)
            this.hover = this.secondAt(this.hoverX);
        this.showTip();
        this.redraw();
    }

    choose(window) {
        this.window = window;
        this.describe();
        this.redraw();
    }

    compare(before) {
        this.before = before;
        this.redraw();
    }

    // ---- text ----------------------------------------------------------------------------------

    ago(second) {
        const s = Math.max(this.latest() - second, 0);
        const when = s === 0 ? "now" : numbers.duration(s * 1e9) + " ago";
        return this.unix ? `${axis.clock(Math.floor(this.unix) + second, 1)}, ${when}` : when;
    }

    // Returns the values of a second, a line each.
    values(second) {
        const i = second - this.line.from, l = this.line, found = [this.ago(second)];
        found.push(axis.rate(l.weight[i] || 0, this.unit, this.event),
                   numbers.count(l.samples[i] || 0) + " samples");
        for (const [ms, name] of [[l.gcMs && l.gcMs[i], "GC pauses"],
                                  [l.otherMs && l.otherMs[i], "other pauses"]])
            if (ms)
                found.push(`${name} ${numbers.duration(ms * 1e6)}`);
        return found;
    }

    point(x) {
        this.hover = this.line ? this.secondAt(x) : -1;
        this.hoverX = x;
        this.showTip();
        this.redraw();
    }

    leave() {
        this.hover = -1;
        this.showTip();
        this.redraw();
    }

    showTip() {
        this.tip.hidden = this.hover < 0 || !this.line;
        if (this.tip.hidden)
            return;
        const lines = this.values(this.hover);
        const now = Array.from(this.tip.children, (e) => e.textContent);
        if (now.join("\n") !== lines.join("\n"))
            this.tip.replaceChildren(...lines.map((text) => make("div", "", text)));
        const x = this.xOf(this.hover + 0.5), wide = this.tip.offsetWidth;
        const left = x + 10 + wide > this.canvas.clientWidth ? x - 10 - wide : x + 10;
        this.tip.style.left = Math.max(left, 0) + "px";
    }

    describe() {
        if (!this.line)
            return;
        const w = this.window;
        const from = w ? Math.max(w.from || 0, this.oldest()) : 0;
        const wide = w ? numbers.duration(Math.max(w.to - from + 1, 1) * 1e9) : "";
        const text = w ? `paused: ${wide}, up to ${this.ago(w.to)}`
                       : `last ${this.seconds() / 60} min: ${this.event} in ` +
                         `${axis.unitOf(this.unit, this.event)}, pauses of the VM below; ` +
                         "click or drag to go back";
        setText(this.label, text);
        this.canvas.setAttribute("aria-valuetext", text);
        this.canvas.setAttribute("aria-valuemin", this.oldest());
        this.canvas.setAttribute("aria-valuemax", this.latest());
        this.canvas.setAttribute("aria-valuenow", w ? w.to : this.latest());
    }

    // ---- drawing -------------------------------------------------------------------------------

    redraw() {
        if (!this.pending)
            window.requestAnimationFrame(() => this.draw());
        this.pending = true;
    }

    draw() {
        this.pending = false;
        const c = this.context, ratio = window.devicePixelRatio || 1;
        const w = this.canvas.clientWidth, h = this.canvas.clientHeight;
        if (!w || !h)
            return;
        this.canvas.width = Math.round(w * ratio);
        this.canvas.height = Math.round(h * ratio);
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.font = Timeline.FONT;
        const style = getComputedStyle(this.canvas);
        const shade = (name) => style.getPropertyValue(name);
        if (!this.line)
            return;
        const plot = h - Timeline.GC - Timeline.TIMES; // height of the bars
        const top = axis.top(this.line.weight.reduce((a, b) => Math.max(a, b), 0), this.unit);
        this.drawTimes(w, plot, shade);
        this.drawScale(w, plot, top, shade);
        this.drawSeconds(plot, top, shade);
        if (this.before)
            this.drawWindow(this.before, plot, shade("--other"));
        const d = this.drag && {from: Math.min(this.drag.from, this.drag.to),
                                to: Math.max(this.drag.from, this.drag.to)};
        if (d || this.window)
            this.drawWindow(d || this.window, plot, shade("--focus"));
        if (this.hover >= 0) {
            c.fillStyle = shade("--text");
            c.fillRect(Math.round(this.xOf(this.hover + 0.5)), 0, 1, plot + Timeline.GC);
        }
    }

    drawTimes(w, plot, shade) {
        const c = this.context, room = Timeline.LABEL / this.wide();
        for (const [second, text] of axis.times(this.begin(), this.seconds(), this.unix, room)) {
            const x = Math.round(this.xOf(second)), half = c.measureText(text).width / 2;
            c.fillStyle = shade("--line");
            c.fillRect(x, 0, 1, plot + Timeline.GC + 3);
            if (x - half < Timeline.LEFT || x + half > w)
                continue;
            c.fillStyle = shade("--quiet");
            c.fillText(text, x - half, plot + Timeline.GC + Timeline.TIMES - 3);
        }
    }

    drawScale(w, plot, top, shade) {
        const c = this.context;
        for (const [weight, y] of [[top, 0], [top / 2, Math.round(plot / 2)], [0, plot]]) {
            const text = axis.mark(weight, this.unit, this.event, !y);
            c.fillStyle = shade("--line");
            c.fillRect(Timeline.LEFT, y, w - Timeline.LEFT, 1);
            if (!weight)
                continue;
            c.fillStyle = shade("--quiet");
            c.fillText(text, Timeline.LEFT - 5 - c.measureText(text).width, y ? y + 4 : 10);
        }
        c.fillStyle = shade("--quiet");
        c.fillText("pauses", Timeline.LEFT - 5 - c.measureText("pauses").width,
                   plot + Timeline.GC - 1);
    }

    // Draws one bar per second, at least a pixel wide. Where bars overlap, the highest is visible.
    // Of the pauses, those for collections are at the bottom.
    drawSeconds(plot, top, shade) {
        const c = this.context, {from, weight, gcMs, otherMs} = this.line;
        const wide = Math.max(1 / this.perPixel() - 0.3, 1), room = Timeline.GC - 1;
        const colour = {bar: shade("--bar"), gc: shade("--gc"), other: shade("--other")};
        weight.forEach((n, i) => {
            const x = this.xOf(from + i), high = n ? Math.max(n / top * (plot - 1), 1) : 0;
            c.fillStyle = colour.bar;
            c.fillRect(x, plot - high, wide, high);
            let y = plot + Timeline.GC;
            for (const [name, ms] of [["gc", gcMs ? gcMs[i] : 0], ["other", otherMs ? otherMs[i] : 0]]) {
                const tall = ms > 0 ? Math.max(Math.min(ms / 1000, 1) * room, 2) : 0;
                c.fillStyle = colour[name];
                c.fillRect(x, Math.max(y - tall, plot + 1), Math.max(wide, 2), tall);
                y -= tall;
            }
        });
    }

    drawWindow(shown, plot, colour) {
        const c = this.context, x = Math.max(this.xOf(shown.from || 0), Timeline.LEFT);
        const wide = Math.max(this.xOf(shown.to + 1) - x, 2), high = plot + Timeline.GC;
        c.globalAlpha = 0.25;
        c.fillStyle = colour;
        c.fillRect(x, 0, wide, high);
        c.globalAlpha = 1;
        c.strokeStyle = colour;
        c.strokeRect(x + 0.5, 0.5, Math.max(wide - 1, 1), high - 1);
    }
}
Timeline.SPANS = [60, 120, 300, 600, 3600];
Timeline.GC = 10; // height of the bars of pauses and the gap above them, in pixels
Timeline.TIMES = 15; // height of the times of day
Timeline.LEFT = 72; // width of the scale
Timeline.LABEL = 68; // least distance of two times of day
Timeline.FINGER = 2; // pixels to either side of a click
Timeline.FONT = "11px system-ui, \"Segoe UI\", \"DejaVu Sans\", sans-serif";
