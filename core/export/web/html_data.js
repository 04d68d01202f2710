// The data of the page, and functions that format numbers. Frames are in preorder and in arrays, so
// that a page can have a million of them. Names are untrusted: they are only drawn or set as text.
const page = (function () {
    "use strict";

    const $ = (selector) => document.querySelector(selector);
    const profile = JSON.parse($("#profile").textContent);
    const byWeight = profile.total;
    const unit = profile.unit;
    const names = ["all"].concat(profile.names);

    // ---- frames; number 0 is "all" -------------------------------------------------------------

    const COUNT = profile.frames + 1;
    const depths = new Uint16Array(COUNT);
    const nameOf = new Uint32Array(COUNT);
    const classOf = new Uint8Array(COUNT);
    const left = new Float64Array(COUNT);
    const value = new Float64Array(COUNT);
    const other = new Float64Array(COUNT); // the counter that does not set the widths
    const self = new Float64Array(COUNT);
    const parent = new Int32Array(COUNT);
    const end = new Uint32Array(COUNT); // first index after the subtree
    const change = profile.diff ? new Float32Array(COUNT) : null; // percentage points
    const flags = profile.diff ? new Uint8Array(COUNT) : null;    // 1: may be chance, 2: new
    readFrames();
    const frames = {COUNT, levels: profile.levels + 1, depths, nameOf, classOf, left, value, other,
                    self, parent, end, change, flags};

    function readFrames() {
        const text = atob($("#frames").textContent);
        $("#frames").textContent = "";
        let at = 0;
        function number() {
            let n = 0, scale = 1, b;
            do {
                b = text.charCodeAt(at++);
                n += (b & 127) * scale;
                scale *= 128;
            } while (b > 127);
            return n;
        }
        const signed = (n) => (n % 2 ? -(n + 1) / 2 : n / 2);
        const whole = byWeight ? profile.weight : profile.samples;
        const otherWhole = byWeight ? profile.samples : profile.weight;
        const open = [0];       // the last frame of each depth
        const from = [0, 0];    // where the next one of each depth begins
        value[0] = whole;
        other[0] = otherWhole;
        classOf[0] = profile.classes.findIndex((c) => c.letter === "e");
        parent[0] = -1;
        let depth = 0;
        for (let i = 1; i < COUNT; i++) {
            const first = number();
            const levels = Math.floor(first / 16);
            for (let d = 0; d < levels; d++)
                end[open[depth - d]] = i;
            depth += 1 - levels;
            depths[i] = depth;
            classOf[i] = first % 16;
            nameOf[i] = number() + 1;
            value[i] = number();
            self[i] = number();
            other[i] = Math.floor(value[i] / whole * otherWhole + 0.5) + signed(number());
            if (change) {
                const c = number();
                change[i] = signed(Math.floor(c / 4)) / 1000;
                flags[i] = c % 4;
            }
            parent[i] = open[depth - 1];
            left[i] = from[depth];
            from[depth] += value[i];
            from[depth + 1] = left[i];
            open[depth] = i;
        }
        for (let d = 0; d <= depth; d++)
            end[open[d]] = COUNT;
        self[0] = whole;
        for (let i = 1; i < COUNT; i = end[i])
            self[0] -= value[i];
    }

    // ---- stacks that start at the leaf ---------------------------------------------------------

    const MOST_REVERSED = 1000000;

    // Returns the frames of `f` with every stack reversed, so that it starts at the leaf. Frames
    // with a value below `least` are left out. null: there are too many frames.
    function reversedFrom(f, least) {
        const out = {depths: [0], nameOf: [0], classOf: [f.classOf[0]], left: [0],
                     value: [f.value[0]], other: [f.other[0]], self: [0], parent: [-1], end: [0]};
        const otherSelf = Float64Array.from(f.other);
        for (let i = 1; i < f.COUNT; i++)
            otherSelf[f.parent[i]] -= f.other[i];
        const at = new Int32Array(f.COUNT); // by stack: the frame to be added next
        const stacks = [];
        for (let i = 1; i < f.COUNT; i++) {
            at[i] = i;
            if (f.self[i] > 0)
                stacks.push(i);
        }

        function addGroup(group, depth, parent, left) {
            const i = out.value.length;
            let value = 0, other = 0, self = 0;
            for (const k of group) {
                value += f.self[k];
                other += otherSelf[k];
            }
            if (value < least)
                return 0;
            out.depths.push(depth);
            out.nameOf.push(f.nameOf[at[group[0]]]);
            out.classOf.push(f.classOf[at[group[0]]]);
            out.left.push(left);
            out.value.push(value);
            out.other.push(other);
            out.parent.push(parent);
            const further = group.filter((k) => {
                at[k] = f.parent[at[k]];
                if (at[k] <= 0)
                    self += f.self[k];
                return at[k] > 0;
            });
            out.self.push(self);
            out.end.push(0);
            addGroups(further, depth + 1, i, left);
            out.end[i] = out.value.length;
            return value;
        }

        function addGroups(list, depth, parent, left) {
            const groups = new Map();
            for (const k of list) {
                const name = f.nameOf[at[k]], group = groups.get(name);
                if (group)
                    group.push(k);
                else
                    groups.set(name, [k]);
            }
            const order = groups.size > 1
                ? Array.from(groups.keys()).sort((a, b) => (names[a] < names[b] ? -1 : 1))
                : groups.keys();
            for (const name of order) {
                if (out.value.length > MOST_REVERSED)
                    return;
                left += addGroup(groups.get(name), depth, parent, left);
            }
        }

        addGroups(stacks, 1, 0, 0);
        if (out.value.length > MOST_REVERSED)
            return null;
        out.end[0] = out.value.length;
        return {
            COUNT: out.value.length, levels: out.depths.reduce((a, b) => Math.max(a, b), 0) + 1,
            depths: Uint16Array.from(out.depths), nameOf: Uint32Array.from(out.nameOf),
            classOf: Uint8Array.from(out.classOf), left: Float64Array.from(out.left),
            value: Float64Array.from(out.value), other: Float64Array.from(out.other),
            self: Float64Array.from(out.self), parent: Int32Array.from(out.parent),
            end: Uint32Array.from(out.end), change: null, flags: null,
        };
    }

    // Doubles the limit until few enough frames remain.
    function reversed() {
        let least = 0;
        for (let r; ; least = least ? 2 * least : frames.value[0] / 500000) {
            r = reversedFrom(frames, least);
            if (r)
                return r;
        }
    }

    // The same shade as in frame_class.c: neighbours can be distinguished, and a name has the same
    // shade in every profile.
    function shadeOf(name) {
        let h = 2166136261;
        for (const b of new TextEncoder().encode(name))
            h = Math.imul(h ^ b, 16777619) >>> 0;
        return ((h ^ h >>> 15) >>> 0) % 6;
    }

    // ---- numbers as text: the rules of human.c -------------------------------------------------

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
        const units = ["B", "KB", "MB", "GB", "TB", "PB"];
        let u = 0;
        for (; n >= 1024 && u < units.length - 1; u++)
            n /= 1024;
        return scaled(n, units[u]);
    }

    const weightText = (n) =>
        unit === "ns" ? duration(n) : unit === "bytes" ? bytes(n) : count(n) + " " + unit;
    const percent = (part, whole) => (whole ? 100 * part / whole : 0).toFixed(2) + "%";
    const points = (n) => (n < 0 ? "" : "+") + n.toFixed(2);

    // ---- patterns ------------------------------------------------------------------------------

    // Returns null if it is not a regular expression. Ignores case unless the pattern has capitals.
    function patternOf(text) {
        try {
            return new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, "")) ? "" : "i");
        } catch (e) {
            return null;
        }
    }

    return {profile, byWeight, names, shades: names.map(shadeOf), frames, reversed, count,
            weightText, percent, points, patternOf};
})();
