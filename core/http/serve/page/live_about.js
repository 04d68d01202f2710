// The dialog about one method: the shares of its lines, and buttons that lead to other views.
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
        setText($("#method-name"), name);
        setText($("#lines-said"), "reading\u2026");
        $("#lines").replaceChildren();
        if (!this.dialog.open)
            this.dialog.showModal();
        const q = new URLSearchParams(question);
        for (const other of ["tree", "rows", "inverted"])
            q.delete(other);
        q.set("method", name);
        const answer = await this.stream.get("/lines?" + q);
        if (this.name === name)
            this.list(answer && answer.lines || [], weight);
    }

    close() {
        if (this.dialog.open)
            this.dialog.close();
    }

    list(lines, weight) {
        setText($("#lines-said"), lines.length ? "Lines:" : "No lines are known.");
        $("#lines").replaceChildren(...lines.slice(0, AboutMethod.MOST).map((l) => make("li", "",
            `line ${l.line}: ${numbers.percent(l.self, weight)} self, ` +
            `${numbers.percent(l.total, weight)} total`)));
    }
}
AboutMethod.MOST = 200;
