// Formats numbers by the rules of human.c, compiles patterns, and makes elements. Text that comes
// from a JVM is untrusted: it is only set as text.
"use strict";

const $ = (selector) => document.querySelector(selector);

// Returns a new element with a class and a text.
function make(tag, name, text) {
    const e = document.createElement(tag);
    if (name)
        e.className = name;
    if (text !== undefined)
        e.textContent = text;
    return e;
}

// Sets the text only if it differs, so that screen readers and selections keep their place.
function setText(e, text) {
    if (e.textContent !== text)
        e.textContent = text;
}

const numbers = (() => {
    const count = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");

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
             : ns >= 1e3 ? scaled(ns / 1e3, "us") : Math.round(ns) + " ns";
    }

    function bytes(n) {
        const units = ["B", "KB", "MB", "GB", "TB", "PB"];
        let u = 0;
        for (; n >= 1024 && u < units.length - 1; u++)
            n /= 1024;
        return scaled(n, units[u]);
    }

    const weight = (n, unit) =>
        unit === "ns" ? duration(n) : unit === "bytes" ? bytes(n) : count(n) + " " + unit;
    const share = (part, whole) => (whole > 0 ? 100 * part / whole : 0);
    const percent = (part, whole) => share(part, whole).toFixed(2) + "%";
    // A change in percentage points.
    const points = (n, digits) => (n < 0 ? "\u2212" : "+") + Math.abs(n).toFixed(digits);
    // Half-width of the 95% interval of a share, in points, worst case.
    const margin = (samples) => (samples > 0 ? 98 / Math.sqrt(samples) : 100);

    // Returns null if it is not a regular expression. Ignores case unless the pattern has capitals.
    function pattern(text) {
        try {
            return new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, "")) ? "" : "i");
        } catch (e) {
            return null;
        }
    }

    return {count, duration, bytes, weight, share, percent, points, margin, pattern};
})();
