// Keys, as on jtop-prof's screen where it has them; the help is made of this table.
class Keys {
    // [keys, words, what it does, command]
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
            return; // its own
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
