// What stands out in what is shown, as in the terminal's overview: a line each, and the way to more
// about it. They cost the server some answers, so they are requested less often than views.
class Findings {
    // go(finding): shows what it is about. here(): the view on the page.
    constructor(box, stream, go, here) {
        this.box = box;
        this.list = box.querySelector("ul");
        this.stream = stream;
        this.go = go;
        this.here = here;
        this.query = null;
        this.asked = 0; // when, in ms
        this.settled = false; // the answer will not change any more
        this.timer = 0;
        this.found = [];
    }

    // A view was shown. `question`: its query. Time that is over stays as it is, but its last samples
    // may still be on their way: it is requested twice.
    follow(question, held) {
        const q = new URLSearchParams(question);
        for (const other of ["tree", "rows", "inverted", "locks", "before"])
            q.delete(other);
        const query = q.toString(), now = performance.now();
        const same = query === this.query;
        this.found.forEach((f, i) => this.fill(i, f)); // the view may be another one
        if (same && (this.settled || document.hidden || now - this.asked < Findings.EVERY))
            return;
        this.query = query;
        this.asked = now;
        this.settled = same && held;
        this.ask(query, question, held);
    }

    async ask(query, question, held) {
        const answer = await this.stream.get("/findings?" + query, true);
        if (this.query !== query)
            return; // the answer to another question is on its way
        if (answer)
            this.show(answer.findings || []);
        else if (this.shown !== query) // what is shown is of another question
            this.show([]);
        this.shown = query;
        this.settled = this.settled && Boolean(answer);
        window.clearTimeout(this.timer);
        if (held && !this.settled) // no view will come
            this.timer = window.setTimeout(() => this.query === query && this.follow(question, true),
                                           Findings.EVERY);
    }

    // Lines keep their elements, and with them the focus.
    show(found) {
        this.found = found;
        this.box.hidden = !found.length;
        while (this.list.children.length > found.length)
            this.list.lastChild.remove();
        found.forEach((f, i) => this.fill(i, f));
    }

    leads(f) {
        return Boolean(f.method || f.view && f.view !== this.here() ||
                       f.thread && (f.thread.virtual ? f.thread.javaId : f.thread.tid));
    }

    static title(f) {
        return f.method ? "Show what calls it" : f.thread ? "Show only this thread"
             : f.view ? "Show more about it" : "";
    }

    fill(i, f) {
        const tag = this.leads(f) ? "BUTTON" : "SPAN";
        let line = this.list.children[i];
        if (!line)
            this.list.append(line = make("li"));
        if (!line.firstChild || line.firstChild.tagName !== tag) {
            const text = make(tag);
            if (tag === "BUTTON") {
                text.type = "button";
                text.addEventListener("click", () => this.go(this.found[i]));
            }
            line.replaceChildren(text);
        }
        line.classList.toggle("mind", Boolean(f.worse));
        line.firstChild.title = tag === "BUTTON" ? Findings.title(f) : "";
        setText(line.firstChild, f.text);
    }

    focus() {
        const first = this.box.querySelector("li button");
        if (this.box.hidden || !first)
            return false;
        this.box.open = true;
        first.focus();
    }
}
Findings.EVERY = 5000; // ms
