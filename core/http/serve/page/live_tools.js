// The line of tools above the views: what can be chosen, and what is chosen.
const tools = (() => {
    const SPANS = [["0", "everything"], ["10", "last 10 s"], ["60", "last minute"],
                   ["300", "last 5 min"]];
    const COMMON = ["cpu", "wall", "alloc", "lock"];

    // `events`: of a view; `chosen`: the name of one that the list has in any case; `fixed`: the
    // view is always about this one.
    function showEvents(events, chosen, fixed) {
        const select = $("#event");
        const running = events.filter((e) => e.runs || e.samples).map((e) => e.name);
        const others = COMMON.filter((name) => !running.includes(name));
        if (!running.includes(chosen) && !others.includes(chosen))
            others.push(chosen);
        const wanted = running.join() + "|" + others.join();
        if (select.dataset.has !== wanted && document.activeElement !== select) {
            select.dataset.has = wanted;
            select.replaceChildren(...[["sampled now", running], ["can be requested", others]]
                .filter(([, names]) => names.length).map(([label, names]) => {
                    const group = make("optgroup");
                    group.label = label;
                    group.append(...names.map((n) => new Option(n, n)));
                    return group;
                }));
        }
        select.value = chosen;
        select.disabled = Boolean(fixed);
        $("#prof").href =
            `/prof?pid=${document.body.dataset.pid}&event=${encodeURIComponent(chosen)}`;
    }

    // An address may have a time that the list has not. 0: everything.
    function showSpan(seconds) {
        const select = $("#span");
        if (!select.options.length)
            select.append(...SPANS.map(([value, text]) => new Option(text, value)));
        if (!Array.from(select.options).some((o) => Number(o.value) === seconds))
            select.append(new Option("last " + numbers.duration(seconds * 1e9), seconds));
        select.value = seconds;
    }

    function nextSpan(seconds) {
        const at = SPANS.findIndex(([value]) => Number(value) === seconds);
        return Number(SPANS[(at + 1) % SPANS.length][0]);
    }

    function showPause(held) {
        setText($("#pause"), held ? "Resume" : "Pause");
        $("#pause").setAttribute("aria-pressed", String(held));
        setText($("#held"), held ? "paused: sampling continues" : "");
    }

    // `before`: the seconds of the baseline, `text`: when that was.
    function showBaseline(before, text) {
        $("#compare").setAttribute("aria-pressed", String(Boolean(before)));
        setText($("#compare"), before ? `Compared with ${text}` : "Compare");
    }

    // What the view is limited to; a click takes a limit away.
    function showChips(narrowed, widen) {
        $("#chips").replaceChildren(...narrowed.map((n) => {
            const chip = make("button", "chip", `${n.kind}: ${n.label} \u00d7`);
            chip.title = "Show everything again";
            chip.addEventListener("click", () => widen(n));
            return chip;
        }));
    }

    // Goes to the tab beside that of the view, by an arrow key. False: it is another key.
    function besideTab(key, view) {
        const tabs = Array.from(document.querySelectorAll("[role=tab]"));
        const by = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
        if (!by)
            return false;
        const at = tabs.findIndex((tab) => tab.dataset.view === view);
        const to = tabs[(at + by + tabs.length) % tabs.length];
        to.click();
        to.focus();
        return true;
    }

    // Why there is nothing to show.
    function nothingText(view, state) {
        const event = view.events.find((e) => e.name === view.event);
        if (event && event.reason && !event.runs)
            return event.reason;
        if (state.held && state.held.to < view.window.first)
            return "No samples are kept of this time: sampling began later. p resumes.";
        return state.held || state.narrowed.length
            ? "No samples here: Esc removes a filter or resumes."
            : `Waiting for samples of ${view.event}\u2026`;
    }

    // While there is a baseline: what the view does not say about it.
    function comparedText(view, state) {
        const said = {status: "The status is not compared with the baseline.",
                      locks: "Waits for locks are not compared with the baseline."};
        return !state.before ? ""
             : said[state.view] || (view.before && !view.before.samples && view.total.samples
                 ? `The baseline has no samples of ${view.event}.` : "");
    }

    // What the colours of the flame graph mean.
    function showLegend(compared) {
        const box = $("#legend"), shades = colours.changes;
        if (box.dataset.compared === String(compared))
            return;
        box.dataset.compared = String(compared);
        const items = compared ? [[shades[shades.length - 1], "+ more than before"],
                                  [shades[0], "\u2212 less"],
                                  [shades[(shades.length - 1) / 2], "change may be chance"]]
                               : colours.looks.map((look) => [look.colours[2], look.label]);
        box.replaceChildren(...items.map(([colour, text]) => {
            const item = make("span", "", text), square = make("i");
            square.style.background = colour;
            item.prepend(square);
            return item;
        }));
    }

    return {showEvents, showBaseline, showSpan, nextSpan, showPause, showChips, besideTab, nothingText,
            comparedText, showLegend};
})();
