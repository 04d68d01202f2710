// The dialog about one method: the shares of its lines beside their source, and buttons that lead to
// other views.
class AboutMethod {
    // Callbacks: only(name), inFlame(name), callers(name), calls(name), closed().
    constructor(dialog, stream, {only, inFlame, callers, calls, closed}) {
        this.dialog = dialog;
        this.stream = stream;
        this.name = "";
        this.turn = 0; // of the last request
        const go = (f) => () => {
            dialog.close();
            f(this.name);
        };
        $("#method-only").addEventListener("click", go(only));
        $("#method-flame").addEventListener("click", go(inFlame));
        $("#method-callers").addEventListener("click", go(callers));
        $("#method-calls").addEventListener("click", go(calls));
        dialog.addEventListener("close", () => {
            if (!dialog.open)
                this.turn++;
            closed();
        });
    }

    static escaped(name) {
        return name.replace(/[.*+?^$()|[\]\\{}]/g, "\\$&");
    }

    // The order of lines, hottest first.
    static byHeat(a, b) {
        return b.self - a.self || b.total - a.total || a.line - b.line;
    }

    // `question`: the query of the view that shows the method.
    async show(name, question) {
        this.name = name;
        this.question = question;
        this.said = "";
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
        const turn = ++this.turn, q = new URLSearchParams(this.question);
        for (const other of ["tree", "rows", "inverted"])
            q.delete(other);
        q.set("method", this.name);
        q.set("source", "1");
        q.set("context", context);
        const answer = await this.stream.get("/lines?" + q);
        if (this.turn !== turn)
            return; // the answer to another request is on its way, or the dialog is closed
        if (answer)
            this.take(answer, context, at);
        else
            this.remark("The lines cannot be read now.");
    }

    take(answer, context, at) {
        const lines = answer.lines || [], busy = answer.reason === "busy";
        this.weight = answer.total ? answer.total.weight : 0; // of the same query as the lines
        if (answer.source && lines.length)
            this.showSource(answer.source, lines, context, at);
        else if (busy && this.dialog.classList.contains("sourced"))
            this.remark("The server is busy with other searches; try again.");
        else
            this.list(lines, busy);
    }

    // `text`: about what is shown.
    say(text) {
        this.said = text;
        setText($("#lines-said"), text);
    }

    // Says that there is nothing new; what is shown stays.
    remark(text) {
        setText($("#lines-said"), this.said ? `${this.said} \u2014 ${text}` : text);
    }

    close() {
        if (this.dialog.open)
            this.dialog.close();
    }

    list(lines, busy) {
        const weight = this.weight;
        this.dialog.classList.remove("sourced");
        this.say(!lines.length ? "No lines are known."
            : busy ? "Lines (the server is busy with other searches for sources; open the method again):"
            : "Lines (no source is found; serve --source-path says where to look):");
        const shown = [...lines].sort(AboutMethod.byHeat).slice(0, AboutMethod.MOST)
            .sort((a, b) => a.line - b.line);
        $("#lines").replaceChildren(...shown.map((l) => make("li", "",
            `line ${l.line}: ${numbers.percent(l.self, weight)} self, ` +
            `${numbers.percent(l.total, weight)} total`)));
    }

    // ---- with source ---------------------------------------------------------------------------

    showSource(source, lines, context, at) {
        const byLine = new Map(lines.map((l) => [l.line, l]));
        const last = lines[lines.length - 1].line;
        const hottest = [...lines].sort(AboutMethod.byHeat)[0];
        this.say(source.origin +
            (last > source.lines ? ` (has only ${numbers.count(source.lines)} lines)` : "") +
            (source.cut ? " (too many lines have samples: only those with the most are shown)" : ""));
        this.dialog.classList.add("sourced");
        // The server gives less context than requested if more does not fit.
        const more = source.context < context ? 0 : Math.min(context * 8, AboutMethod.MOST_CONTEXT);
        const rows = source.rows.map((row) => (row.hidden
            ? this.fold(row, more > context ? more : 0, source.lines)
            : this.line(row, byLine.get(row.line), hottest.self)));
        const box = $("#lines"), inside = box.contains(document.activeElement);
        box.replaceChildren(AboutMethod.heads(), ...rows);
        this.goTo(rows[AboutMethod.indexOf(source.rows, at || hottest.line)], at && inside);
    }

    // The index of the row with a line, or of the fold that hides it.
    static indexOf(rows, line) {
        const after = rows.findIndex((row) => row.line > line);
        return Math.max(0, after < 0 ? rows.length - 1 : after - 1);
    }

    // Scrolls the list only, not the page. `focus`: the button that had the focus is gone.
    goTo(row, focus) {
        const box = $("#lines");
        if (!row)
            return;
        box.scrollTop = row.offsetTop - box.offsetTop - box.clientHeight / 2;
        if (!focus)
            return;
        row.tabIndex = -1;
        row.focus({preventScroll: true});
    }

    static heads() {
        const e = make("li", "heads");
        const self = make("span", "n self", "self");
        self.append(make("span", "alone", "(total)"));
        e.append(make("span", "n total", "total"), self,
                 make("span", "n at", "line"));
        return e;
    }

    // A row with samples has its share of the hottest line as a bar. A narrow window has no
    // column for totals, so a row without a self shows its total there.
    line(row, samples, most) {
        const e = make("li", samples ? "hot" : ""), part = (n) => numbers.percent(n, this.weight);
        const self = make("span", "n self", samples && samples.self ? part(samples.self) : "");
        if (samples && samples.self)
            self.style.setProperty("--part", numbers.share(samples.self, most).toFixed(1) + "%");
        else if (samples)
            self.append(make("span", "alone", `(${part(samples.total)})`));
        e.append(make("span", "n total", samples ? part(samples.total) : ""), self,
                 make("span", "n at", row.line ? String(row.line) : "?"),
                 make("code", "", row.line ? row.text : "no line is known"));
        if (samples)
            e.title = `${part(samples.self)} self, ${part(samples.total)} total, ` +
                `${numbers.count(samples.samples)} samples`;
        return e;
    }

    // Lines that are left out. A click shows `more` around each line with samples (0: it does not),
    // and what was below the fold stays in sight.
    fold(row, more, lines) {
        const below = row.line + row.hidden;
        const e = make("li", "fold"), text = `\u2026 ${numbers.count(row.hidden)} lines`;
        if (!more) {
            e.append(make("span", "", text));
            return e;
        }
        const button = make("button", "", text);
        button.type = "button";
        button.addEventListener("click", () => this.ask(more, below > lines ? row.line : below));
        e.append(button);
        return e;
    }
}
AboutMethod.MOST = 200;
AboutMethod.CONTEXT = 4;
AboutMethod.MOST_CONTEXT = 1000;
