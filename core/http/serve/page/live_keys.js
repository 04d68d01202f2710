// Handles keys: those of jtop-prof's screen where it has the same command. The help lists the same
// table.
class Keys {
    // table: rows of [keys, keys as text, description, command]
    constructor(table) {
        this.table = table;
        this.byKey = new Map(table.flatMap(([keys, , , act]) => keys.map((k) => [k, act])));
        document.addEventListener("keydown", (e) => this.press(e));
    }

    static isTyped(e) {
        return e.target.matches("input, select, textarea") || $("#help").open || $("#method").open;
    }

    press(e) {
        if (e.ctrlKey || e.metaKey || e.altKey || Keys.isTyped(e))
            return;
        const own = e.key === "Enter" || e.key === " ";
        if (own && e.target.matches("button, a, summary"))
            return; // the element handles this key itself
        const act = this.byKey.get(e.key);
        if (act && act(e) !== false)
            e.preventDefault();
    }

    fill(list) {
        for (const [, words, text] of this.table) {
            const term = make("dt");
            term.append(...words.split(" ").map((w) => make("kbd", "", w)));
            list.append(term, make("dd", "", text));
        }
    }
}
