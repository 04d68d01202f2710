// The timeline: the samples of each second, and below them how long the garbage collector stopped
// the JVM. A click or a drag chooses a time window, and the page pauses there.
class Timeline {
    constructor(canvas, label, chosen) {
        this.canvas = canvas;
        this.label = label;
        this.chosen = chosen; // (from, to): seconds of the samples' clock, both included
        this.context = canvas.getContext("2d");
        this.line = null;
        this.window = null; // the chosen window, while paused
        this.drag = null;
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
            this.say(this.secondAt(e.offsetX));
            this.redraw();
        });
        c.addEventListener("pointerup", () => this.drop());
        c.addEventListener("pointercancel", () => {
            this.drag = null;
            this.redraw();
        });
        c.addEventListener("pointerleave", () => this.describe());
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

    perPixel() {
        return this.seconds() / Math.max(this.canvas.clientWidth, 1);
    }

    secondAt(x) {
        const s = this.line ? Math.floor(this.begin() + x * this.perPixel()) : 0;
        return this.line ? Math.min(Math.max(s, this.oldest()), this.latest()) : 0;
    }

    // `unix`: offset from the samples' clock to Unix time, in seconds.
    set(line, unix) {
        this.line = line && line.samples.length ? line : null;
        this.unix = unix || 0;
        this.window = null;
        if (!this.drag)
            this.describe();
        this.redraw();
    }

    choose(window) {
        this.window = window;
        this.describe();
        this.redraw();
    }

    ago(second) {
        const s = Math.max(this.latest() - second, 0);
        const when = s === 0 ? "now" : numbers.duration(s * 1e9) + " ago";
        return this.unix ? `${new Date((second + this.unix) * 1000).toLocaleTimeString()}, ${when}`
                         : when;
    }

    say(second) {
        if (!this.line)
            return;
        const i = second - this.line.from, gc = this.line.gcMs ? this.line.gcMs[i] : 0;
        const other = this.line.otherMs ? this.line.otherMs[i] : 0;
        const samples = numbers.count(this.line.samples[i] || 0);
        setText(this.label, `${this.ago(second)}: ${samples} samples` +
            (gc ? `, GC ${numbers.duration(gc * 1e6)}` : "") +
            (other ? `, other pauses ${numbers.duration(other * 1e6)}` : ""));
    }

    describe() {
        if (!this.line)
            return;
        const w = this.window;
        const from = w ? Math.max(w.from, this.oldest()) : 0;
        const wide = w ? numbers.duration((w.to - from + 1) * 1e9) : "";
        const span = `last ${this.seconds() / 60} min`;
        const text = w ? `paused: ${wide}, up to ${this.ago(w.to)}`
                       : `${span}: samples, with GC pauses below; click or drag to go back`;
        setText(this.label, text);
        this.canvas.setAttribute("aria-valuetext", text);
        this.canvas.setAttribute("aria-valuemin", this.oldest());
        this.canvas.setAttribute("aria-valuemax", this.latest());
        this.canvas.setAttribute("aria-valuenow", w ? w.to : this.latest());
    }

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
        const style = getComputedStyle(this.canvas);
        const shade = (name) => style.getPropertyValue(name);
        this.drawGrid(w, h, shade("--line"));
        if (!this.line)
            return;
        this.drawSamples(w, h, shade);
        this.drawWindow(w, h, shade("--focus"));
    }

    drawGrid(w, h, colour) {
        const all = this.seconds(), step = all > 120 ? 60 : 10;
        this.context.fillStyle = colour;
        for (let s = step; s < all; s += step)
            this.context.fillRect(Math.round(w * s / all), 0, 1, h);
    }

    // Draws one bar per second, at least a pixel wide. Where bars overlap, the highest is visible.
    drawSamples(w, h, shade) {
        const c = this.context, {from, samples, gcMs} = this.line, begin = this.begin();
        const wide = Math.max(w / this.seconds() - 0.3, 1), bars = h - Timeline.GC;
        const most = samples.reduce((a, b) => Math.max(a, b), 1);
        samples.forEach((n, i) => {
            const x = (from + i - begin) * w / this.seconds();
            const high = n ? Math.max(n / most * (bars - 2), 1) : 0;
            c.fillStyle = shade("--bar");
            c.fillRect(x, bars - high, wide, high);
            const gc = gcMs ? Math.min(gcMs[i] / 1000, 1) : 0;
            if (gc > 0) {
                c.fillStyle = shade("--gc");
                c.fillRect(x, bars + 1, Math.max(wide, 2), Math.max(gc * (Timeline.GC - 1), 2));
            }
        });
    }

    drawWindow(w, h, colour) {
        const d = this.drag && {from: Math.min(this.drag.from, this.drag.to),
                                to: Math.max(this.drag.from, this.drag.to)};
        const shown = d || this.window;
        if (!shown)
            return;
        const c = this.context, at = (s) => (s - this.begin()) * w / this.seconds();
        const x = Math.max(at(shown.from), 0), wide = Math.max(at(shown.to + 1) - x, 2);
        c.globalAlpha = 0.25;
        c.fillStyle = colour;
        c.fillRect(x, 0, wide, h);
        c.globalAlpha = 1;
        c.strokeStyle = colour;
        c.strokeRect(x + 0.5, 0.5, Math.max(wide - 1, 1), h - 1);
    }
}
Timeline.SPANS = [60, 120, 300, 600, 3600];
Timeline.GC = 9; // height of the GC bars and the gap above them, in pixels
Timeline.FINGER = 2; // pixels to either side of a click
