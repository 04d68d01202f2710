// The dialog about one method: the shares of its lines beside their source, and buttons that lead to
// other views.
class AboutMethod {
    // Callbacks: only(name), inFlame(name), callers(name), calls(name), closed().
    constructor(dialog, stream, {only, inFlame, callers, calls, closed}) {
        this.dialog = dialog;
        this.stream = stream;
        this.name = "";
        const go = (f) => () => {
            dialog.close();
            f(this.name);
        };
        $("#method-only").addEventListener("click", go(only));
        $("#method-flame").addEventListener("click", go(inFlame));
        $("#method-callers").addEventListener("click", go(callers));
        $("#method-calls").addEventListener("click", go(calls));
        dialog.addEventListener("close", closed);
    }

    static escaped(name) {
        return name.replace(/[.*+?^$()|[\]\\{}]/g, "\\$&");
    }

    // `question`: the query of the view that shows the method.
    async show(name, question, weight) {
        this.name = name;
        this.question = question;
        this.weight = weight;
        setText($("#method-name"), name);
        setText($("#lines-said"), "reading\u2026");
        $("#lines").replaceChildren();
        this.dialog.classList.remove("sourced");
        if (!this.dialog.open)
            this.dialog.showModal();
        await this.ask(AboutMethod.CONTEXT, 0);
    }

    // Shows `context` lines around each line with samples, and line `at` in the middle; 0: the
    // hottest one.
    async ask(context, at) {
        const name = this.name, q = new URLSearchParams(this.question);
        for (const other of ["tree", "rows", "inverted"])
            q.delete(other);
        q.set("method", name);
        q.set("source", "1");
        q.set("context", context);
        const answer = await this.stream.get("/lines?" + q);
        if (this.name !== name)
            return;
        const lines = answer && answer.lines || [];
        if (answer && answer.source && lines.length)
            this.showSource(answer.source, lines, context, at);
        else
            this.list(lines);
    }

    close() {
        if (this.dialog.open)
            this.dialog.close();
    }

    list(lines) {
        const weight = this.weight;
        setText($("#lines-said"), lines.length
            ? "Lines (no source is found; serve --source-path says where to look):"
            : "No lines are known.");
        $("#lines").replaceChildren(...lines.slice(0, AboutMethod.MOST).map((l) => make("li", "",
            `line ${l.line}: ${numbers.percent(l.self, weight)} self, ` +
            `${numbers.percent(l.total, weight)} total`)));
    }

    // ---- with source ---------------------------------------------------------------------------

    showSource(source, lines, context, at) {
        const byLine = new Map(lines.map((l) => [l.line, l]));
        const last = lines[lines.length - 1].line;
        const hottest = lines.reduce((a, b) => (b.self > a.self ||
            b.self === a.self && b.total > a.total ? b : a));
        const middle = at || hottest.line;
        setText($("#lines-said"), source.origin +
            (last > source.lines ? ` (has only ${numbers.count(source.lines)} lines)` : "") +
            (source.cut ? " (cut: it is long)" : ""));
        this.dialog.classList.add("sourced");
        const rows = source.rows.map((row) => (row.hidden
            ? this.fold(row, context, source.lines)
            : this.line(row, byLine.get(row.line), hottest.self)));
        const found = rows[source.rows.findIndex((row) => row.line >= middle)];
        $("#lines").replaceChildren(AboutMethod.heads(), ...rows);
        if (found) // scrolls the list only, not the page
            $("#lines").scrollTop = found.offsetTop - $("#lines").offsetTop - $("#lines").clientHeight / 2;
    }

    static heads() {
        const e = make("li", "heads");
        e.append(make("span", "n total", "total"), make("span", "n self", "self"),
                 make("span", "n at", "line"));
        return e;
    }

    // A row with samples has its share of the hottest line as a bar.
    line(row, samples, most) {
        const e = make("li", samples ? "hot" : ""), part = (n) => numbers.percent(n, this.weight);
        const self = make("span", "n self", samples && samples.self ? part(samples.self) : "");
        if (samples && samples.self)
            self.style.setProperty("--part", numbers.share(samples.self, most).toFixed(1) + "%");
        e.append(make("span", "n total", samples ? part(samples.total) : ""), self,
                 make("span", "n at", row.line ? String(row.line) : "?"),
                 make("code", "", row.line ? row.text : "no line is known"));
        if (samples)
            e.title = `${part(samples.self)} self, ${part(samples.total)} total, ` +
                `${numbers.count(samples.samples)} samples`;
        return e;
    }

    // Lines that are left out. A click shows more around each line with samples, and what was below
    // the fold stays in sight.
    fold(row, context, lines) {
        const below = row.line + row.hidden;
        const e = make("li", "fold"), button = make("button", "", `\u2026 ${numbers.count(row.hidden)} lines`);
        button.type = "button";
        button.addEventListener("click", () => this.ask(Math.min(context * 8, 1000),
                                                       below > lines ? row.line : below));
        e.append(button);
        return e;
    }
}
AboutMethod.MOST = 200;
AboutMethod.CONTEXT = 4;
