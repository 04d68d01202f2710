// Requests the list of JVMs every EVERY ms while the page is visible.
(() => {
    const EVERY = 3000; // ms
    const body = $("#jvms tbody");

    function link(href, text) {
        const a = make("a", "", text);
        a.href = href;
        return a;
    }

    function links(cell, jvm) {
        if (jvm.closed) {
            cell.textContent = "cannot be profiled: it belongs to another user; run the server " +
                `as root or as ${jvm.user}`;
            return;
        }
        cell.append(link(`/live/${jvm.pid}`, "live"), " ",
                    link(`/prof?pid=${jvm.pid}`, "flame graph of 10 s"), " ",
                    link(`/prof?pid=${jvm.pid}&event=alloc`, "allocation"));
        if (jvm.held)
            cell.append(" ", make("span", "tag", "profiled now"));
    }

    function makeRow(jvm) {
        const row = make("tr"), name = make("th");
        row.dataset.pid = jvm.pid;
        name.scope = "row";
        name.append(jvm.closed ? jvm.name : link(`/live/${jvm.pid}`, jvm.name));
        const figures = ["CPU", "Memory", "Threads", "Up"].map((label) => {
            const cell = make("td", "n");
            cell.dataset.label = label; // shown on narrow screens, without column heads
            return cell;
        });
        row.append(make("td", "n", String(jvm.pid)), name, make("td", "", jvm.user),
                   make("td", "", jvm.version), ...figures, make("td"));
        return row;
    }

    function fill(row, jvm) {
        setText(row.cells[4], `${jvm.cpuPercent.toFixed(1)}%`);
        setText(row.cells[5], numbers.bytes(jvm.rssBytes));
        setText(row.cells[6], numbers.count(jvm.threads));
        setText(row.cells[7], numbers.duration(jvm.uptimeMs * 1e6));
        const kind = `${jvm.closed} ${jvm.held}`;
        if (row.dataset.kind === kind)
            return;
        row.dataset.kind = kind;
        row.cells[8].replaceChildren();
        links(row.cells[8], jvm);
    }

    function show(jvms) {
        const nameOf = (row) => (row.cells[1] ? row.cells[1].textContent : "");
        const rows = new Map(Array.from(body.rows, (row) => [row.dataset.pid + nameOf(row), row]));
        const kept = jvms.map((jvm) => {
            const row = rows.get(jvm.pid + jvm.name) || makeRow(jvm);
            fill(row, jvm);
            return row;
        });
        kept.sort((a, b) => a.dataset.pid - b.dataset.pid);
        for (const row of Array.from(body.rows)) {
            if (!kept.includes(row))
                row.remove();
        }
        kept.forEach((row, i) => {
            if (body.rows[i] !== row)
                body.insertBefore(row, body.rows[i] || null);
        });
        if (!kept.length) {
            const row = body.insertRow(), cell = row.insertCell();
            cell.colSpan = 9;
            cell.textContent = "There is no JVM on this machine now.";
        }
    }

    async function refresh() {
        if (document.hidden)
            return;
        let text = "the server does not answer; trying again";
        try {
            const answer = await fetch("/api/v1/jvms", {cache: "no-store"});
            $("#login").hidden = answer.status !== 401;
            text = answer.status === 401 ? "the server requires a token"
                 : answer.ok ? "" : `the server answers ${answer.status}; trying again`;
            if (answer.ok)
                show(await answer.json());
        } catch (e) {
            setText($("#phase"), text);
        }
        setText($("#phase"), text);
    }

    window.setInterval(refresh, EVERY);
    document.addEventListener("visibilitychange", refresh);
})();
