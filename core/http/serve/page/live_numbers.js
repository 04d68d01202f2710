// Numbers for people, by the rules of human.c; patterns; elements. What comes from a JVM is only
// ever set as text.
"use strict";

const $ = (selector) => document.querySelector(selector);

// An element with a class and a text.
function make(tag, name, text) {
    const e = document.createElement(tag);
    if (name)
        e.className = name;
    if (text !== undefined)
        e.textContent = text;
    return e;
}

// Nothing is touched that stays as it is: screen readers and selections keep their place.
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
    // Off the end of a percentage with 95 of 100, at worst.
    const margin = (samples) => (samples > 0 ? 98 / Math.sqrt(samples) : 100);

    // null: it is no regular expression. Capitals matter only if it has some.
    function pattern(text) {
        try {
            return new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, "")) ? "" : "i");
        } catch (e) {
            return null;
        }
    }

    return {count, duration, bytes, weight, share, percent, margin, pattern};
})();
