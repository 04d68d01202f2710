// Receives views from the server: one per second from a stream, others on request. A broken stream
// is opened again, after longer and longer waits, until the JVM is gone or a token is required.
class Stream {
    // told: callbacks view(view), state(name, text) and failed(text). The names of states: live,
    // stopped, connecting, waiting, denied, gone.
    constructor(base, told) {
        this.base = base;
        this.told = told;
        this.query = "";
        this.source = null;
        this.timer = 0;
        this.tries = 0;
        this.asked = null;
        this.trouble = "";
        this.quiet = false; // sampling has stopped, so silence is no error
        this.over = false;  // the JVM is gone
        this.shut = false;  // the server requires a token
        window.setInterval(() => this.watch(), 1000);
        window.addEventListener("online", () => this.again());
        document.addEventListener("visibilitychange", () => { // the user may have logged in
            if (!document.hidden && this.shut)
                this.connect();
        });
        window.addEventListener("pagehide", () => this.close());
        window.addEventListener("pageshow", (e) => e.persisted && this.connect());
    }

    open(query) {
        this.query = query;
        this.tries = 0;
        this.trouble = "";
        this.connect();
    }

    close() {
        window.clearTimeout(this.timer);
        this.timer = 0;
        if (this.source)
            this.source.close();
        this.source = null;
    }

    connect() {
        this.close();
        if (this.over)
            return;
        this.shut = false;
        this.heard = performance.now();
        const source = new EventSource(this.base + "/events?" + this.query);
        this.source = source;
        const on = (name, f) => source.addEventListener(name, (e) => {
            if (this.source !== source)
                return;
            this.heard = performance.now();
            f(Stream.parse(e.data));
        });
        on("view", (view) => this.take(view));
        on("trouble", (t) => {
            this.trouble = String(t && t.message || "the server ended the stream");
            this.broken();
        });
        on("gone", () => this.gone("The JVM is gone; this is the last view."));
        source.onerror = () => this.source === source && this.broken();
        if (!this.tries)
            this.told.state("connecting", "connecting");
    }

    static parse(text) {
        try {
            return JSON.parse(text);
        } catch (e) {
            return null;
        }
    }

    take(view) {
        if (!view || !view.window)
            return;
        this.tries = 0;
        this.trouble = "";
        const runs = !view.status || view.status.phase === "running";
        this.quiet = !runs;
        this.told.state(runs ? "live" : "stopped",
                        runs ? "live" : view.status.message || "sampling has stopped");
        this.told.view(view);
    }

    // Detects a server that hangs and a network that is cut: neither causes an error event soon.
    watch() {
        if (this.source && !this.quiet && performance.now() - this.heard > Stream.SILENCE)
            this.broken();
    }

    again() {
        if (this.timer)
            this.connect();
    }

    broken() {
        this.close();
        const ms = Math.min(500 * 2 ** this.tries++, Stream.LONGEST);
        this.timer = window.setTimeout(() => this.connect(), ms);
        this.told.state("waiting", (this.trouble || "the server does not answer") +
            `; trying again ${ms < 1000 ? "at once" : "in " + Math.round(ms / 1000) + " s"}`);
        if (this.tries > 1) // a server that restarts refuses connections for a moment
            this.askWhy();
    }

    // An EventSource does not report the HTTP status of a failure, so an ordinary request gets it.
    async askWhy() {
        let answer;
        try {
            answer = await fetch(this.base + "/view?rows=0&tree=0&" + this.query,
                                 {cache: "no-store"});
        } catch (e) {
            return; // no server answers
        }
        if (answer.status === 401)
            this.denied();
        else if (answer.status === 404)
            this.gone("The JVM is gone; this is the last view.");
        else if (answer.status >= 400)
            this.told.failed(await Stream.reason(answer));
    }

    denied() {
        this.close();
        this.shut = true;
        this.told.state("denied", "the server requires a token");
    }

    gone(text) {
        this.close();
        this.over = true;
        this.told.state("gone", text);
    }

    static async reason(answer) {
        const text = await answer.text();
        return text && !text.startsWith("<") ? text.trim().slice(0, 300)
                                             : `the server answers ${answer.status}`;
    }

    // Requests one view. null: a later request replaced this one, or it failed and told.failed was
    // called.
    async view(query) {
        if (this.asked)
            this.asked.abort();
        const asked = this.asked = new AbortController();
        try {
            const answer = await fetch(this.base + "/view?" + query,
                                       {cache: "no-store", signal: asked.signal});
            if (answer.status === 401)
                this.denied();
            if (answer.ok)
                return await answer.json();
            this.told.failed(await Stream.reason(answer));
        } catch (e) {
            if (e.name !== "AbortError")
                this.told.failed("the server does not answer");
        }
        return null;
    }

    // Requests something else about this JVM. null: it failed, and told.failed was called unless
    // `quiet`.
    async get(rest, quiet) {
        try {
            const answer = await fetch(this.base + rest, {cache: "no-store"});
            if (answer.ok)
                return await answer.json();
            if (!quiet)
                this.told.failed(await Stream.reason(answer));
        } catch (e) {
            if (!quiet)
                this.told.failed("the server does not answer");
        }
        return null;
    }
}
Stream.SILENCE = 15000; // ms
Stream.LONGEST = 8000;
