// Colours of frames by their kind of code (frame_class.c), or in comparisons by their change
// (frame_change.c: 0 much less, 4 the same, 8 much more); and classes for threads' states.
const colours = (() => {
    const {looks, changes} = JSON.parse($("#looks").textContent);
    const MATCHED = "#ee00ee";
    const byLetter = new Map(looks.map((look, i) => [look.letter, i]));
    const byKind = {native: "n", cpp: "p", kernel: "k", "class": "l", thread: "t", error: "e",
                    stub: "n", compiling: "n"};
    const byTier = ["j", "i", "c", "j", "l"];
    const shades = new Map(); // by name; the same names are drawn again and again
    const SHADES_KEPT = 50000;

    function lookOf(kind, tier) {
        const letter = kind === "java" ? byTier[tier] : byKind[kind];
        return byLetter.get(letter || "n");
    }

    function shadeOf(name) {
        let shade = shades.get(name);
        if (shade !== undefined)
            return shade;
        let h = 2166136261;
        for (const b of new TextEncoder().encode(name))
            h = Math.imul(h ^ b, 16777619) >>> 0;
        shade = ((h ^ h >>> 15) >>> 0) % 6;
        if (shades.size >= SHADES_KEPT)
            shades.clear();
        shades.set(name, shade);
        return shade;
    }

    const frame = (look, name) => looks[look].colours[shadeOf(name)];
    const tierText = (kind, tier) =>
        kind !== "java" ? kind : ["", "interpreted", "C1", "C2", "inlined"][tier] || "";

    // The rough state, which sets the colour. The words beside the colour give the exact state.
    const states = {running: "runs", blocked: "blocked", futex: "blocked", io: "io", poll: "io",
                    disk: "io"};
    const state = (name) => (Object.hasOwn(states, name) ? states[name] : "waits");

    return {looks, changes, MATCHED, lookOf, frame, tierText, state};
})();
