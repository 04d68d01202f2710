// Light or dark theme: the system's, until the user chooses one. The browser stores the choice.
const theme = (() => {
    const KEY = "jtop-prof-theme";
    const root = document.documentElement;
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const told = [];

    const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

    function remembered() {
        try {
            return localStorage.getItem(KEY);
        } catch (e) {
            return null; // storage is not allowed
        }
    }

    function remember(value) {
        try {
            localStorage.setItem(KEY, value);
        } catch (e) {
            return; // the choice then lasts as long as this page
        }
    }

    function show() {
        const button = $("#theme");
        if (button) {
            setText(button, dark() ? "Light" : "Dark");
            button.setAttribute("aria-label", dark() ? "Use light colours" : "Use dark colours");
        }
        for (const f of told)
            f();
    }

    function toggle() {
        root.dataset.theme = dark() ? "light" : "dark";
        remember(root.dataset.theme);
        show();
    }

    if (["light", "dark"].includes(remembered()))
        root.dataset.theme = remembered();
    system.addEventListener("change", show);
    if ($("#theme"))
        $("#theme").addEventListener("click", toggle);
    show();
    return {dark, toggle, changed: (f) => told.push(f)};
})();
