// A table whose rows are replaced each second. A row with the same key keeps its element. A click
// on a column's head sorts by it. A column: {id, label, title, value(row), text(row, context) or
// fill(cell, row, context), number, up (ascending first), head (holds the button)}.
class Table {
    constructor(table, columns, {key, sort, activate, label}) {
        this.columns = columns;
        this.key = key;
        this.activate = activate;
        this.label = label; // label(row): the text that search matches
        this.by = columns.find((c) => c.id === sort);
        this.up = Boolean(this.by.up);
        this.rows = [];
        this.lines = new Map();
        this.selected = null;
        this.pattern = null;
        this.body = table.createTBody();
        this.heads = this.makeHead(table.createTHead().insertRow());
        this.showChanges({});
    }

    makeHead(row) {
        return this.columns.map((column) => {
            const cell = make("th", `c-${column.id}` + (column.number ? " n" : ""));
            const button = make("button", "sort", column.label);
            cell.scope = "col";
            button.title = `${column.title}; click to sort`;
            button.addEventListener("click", () => this.sortBy(column));
            cell.append(button);
            row.append(cell);
            return cell;
        });
    }

    sortBy(column) {
        this.up = column === this.by ? !this.up : Boolean(column.up);
        this.by = column;
        this.show();
    }

    nextSort() {
        const shown = this.columns.filter((column) => !column.hidden);
        this.sortBy(shown[(shown.indexOf(this.by) + 1) % shown.length]);
    }

    reverse() {
        this.sortBy(this.by);
    }

    // `context`: values that all cells use, such as the total weight.
    set(rows, context) {
        this.rows = rows;
        this.context = context;
        this.show();
    }

    // Hides the column with that index, or shows it.
    hide(index, hidden) {
        this.columns[index].hidden = hidden;
        this.heads[index].parentElement.parentElement.parentElement
            .classList.toggle(`without-${this.columns[index].id}`, hidden);
    }

    // The column of changes is there only while there is a baseline.
    showChanges(context) {
        const at = this.columns.findIndex((column) => column.id === "change");
        if (at >= 0)
            this.hide(at, !context.compared);
    }

    // While the column of the order is hidden, the first one is used.
    compare(a, b) {
        const by = this.by.hidden ? this.columns[0] : this.by;
        const x = by.value(a, this.context), y = by.value(b, this.context);
        const c = x < y ? -1 : x > y ? 1 : 0;
        return this.up ? c : -c;
    }

    ordered() {
        return this.rows.slice().sort((a, b) => this.compare(a, b));
    }

    show() {
        this.heads.forEach((head, i) => {
            const now = this.columns[i] === this.by;
            head.setAttribute("aria-sort", now ? (this.up ? "ascending" : "descending") : "none");
        });
        const focused = this.body.contains(document.activeElement) && document.activeElement;
        const sorted = this.ordered();
        const lines = new Map();
        sorted.forEach((row, place) => {
            let key = this.key(row);
            while (lines.has(key))
                key += " again"; // two rows have the same key
            const line = this.lines.get(key) || this.makeLine(key);
            this.fill(line, row);
            line.element.classList.toggle("selected", key === this.selected);
            if (this.body.rows[place] !== line.element)
                this.body.insertBefore(line.element, this.body.rows[place] || null);
            lines.set(key, line);
        });
        while (this.body.rows.length > sorted.length)
            this.body.deleteRow(-1);
        this.lines = lines;
        if (focused && focused !== document.activeElement)
            focused.focus({preventScroll: true}); // an element that is moved loses the focus
    }

    makeLine(key) {
        const element = make("tr");
        const line = {element, row: null};
        this.columns.forEach((column) => {
            const cell = make(column.head ? "th" : "td",
                              `c-${column.id}` + (column.number ? " n" : ""));
            if (column.head) {
                cell.scope = "row";
                const button = make("button", "name");
                button.addEventListener("click", () => {
                    this.select(key);
                    this.activate(line.row);
                });
                button.addEventListener("focus", () => this.select(key));
                cell.append(button);
                line.button = button;
            }
            element.append(cell);
        });
        return line;
    }

    fill(line, row) {
        line.row = row;
        this.columns.forEach((column, i) => {
            const cell = line.element.cells[i];
            if (column.head)
                this.fillName(line.button, column.text(row, this.context));
            else if (column.fill)
                column.fill(cell, row, this.context);
            else
                setText(cell, column.text(row, this.context));
        });
        line.element.classList.toggle("match", this.isMatch(row));
    }

    // Writes the name, with the first match marked.
    fillName(button, name) {
        const found = this.pattern && this.pattern.exec(name);
        const mark = found && found[0] ? found[0] : "";
        if (button.textContent === name && (button.dataset.mark || "") === mark)
            return;
        button.dataset.mark = mark;
        button.title = name;
        button.replaceChildren(...(mark ? [name.slice(0, found.index), make("mark", "", mark),
                                           name.slice(found.index + mark.length)] : [name]));
    }

    isMatch(row) {
        return Boolean(this.pattern && this.pattern.test(this.label(row)));
    }

    search(pattern) {
        this.pattern = pattern;
        this.show();
    }

    matches() {
        return this.rows.filter((row) => this.isMatch(row));
    }

    // ---- the row that keys act on ----

    order() {
        return Array.from(this.lines.keys()); // keys of the rows, in the order shown
    }

    select(key) {
        this.selected = key;
        for (const [k, line] of this.lines)
            line.element.classList.toggle("selected", k === key);
    }

    goTo(key) {
        this.select(key);
        this.lines.get(key).element.querySelector("button.name").focus();
    }

    move(step) {
        const keys = this.order();
        if (!keys.length)
            return;
        const at = keys.indexOf(this.selected);
        this.goTo(keys[at < 0 ? 0 : Math.min(Math.max(at + step, 0), keys.length - 1)]);
    }

    nextMatch(step) {
        const keys = this.order(), at = keys.indexOf(this.selected);
        for (let n = 1; n <= keys.length; n++) {
            const key = keys[(Math.max(at, step < 0 ? 0 : -1) + step * n + 2 * keys.length) %
                             keys.length];
            if (this.isMatch(this.lines.get(key).row))
                return this.goTo(key);
        }
    }
}
