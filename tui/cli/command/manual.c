/* The parts of the manual pages that are generated from tables: options in jtop-prof.1, settings in
 * jtop-prof.5, keys in jtop-prof.7. `make man` puts them there, between two comments; a test
 * reports where they differ. */
#include "tui/cli/command/command.h"

#include "tui/config/config_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Appends a text of a line, or with `argument` an argument: neither macro nor punctuation. */
static void add_text(struct text *out, const char *s, bool argument) {
    if (argument || s[0] == '.' || s[0] == '\'' || strncmp(s, "…", strlen("…")) == 0)
        text_add(out, "\\&");
    for (; *s; s++) {
        if (*s == '\\')
            text_add(out, "\\e");
        else if (strncmp(s, "…", strlen("…")) == 0) {
            text_add(out, "...");
            s += strlen("…") - 1;
        } else {
            text_add_n(out, s, 1);
        }
    }
}

static void add_option(struct text *out, const struct option_row *row) {
    text_add(out, ".It");
    for (int i = 0; i < 2; i++) {
        if (!row->name[i])
            continue;
        text_addf(out, "%s Fl ", i && row->name[0] ? " ," : "");
        if (row->name[i][1] == '-') {
            text_add(out, "\\-");
            add_text(out, row->name[i] + 2, false);
        } else {
            text_add(out, row->name[i] + 1);
        }
        if (!row->argument)
            continue;
        text_add(out, " Ar ");
        add_text(out, row->argument, true);
    }
    text_add(out, "\n");
    add_text(out, row->help, false);
    text_add(out, "\n");
}

static void add_options(struct text *out) {
    for (int g = 0; g < GROUP_READER; g++) {
        text_addf(out, ".Ss %s\n.Bl -tag -width Ds -compact\n", option_group_title[g]);
        for (int i = 0; i < option_row_count; i++)
            if (option_rows[i].group == (enum option_group)g)
                add_option(out, &option_rows[i]);
        text_add(out, ".El\n");
    }
}

static void add_settings(struct text *out) {
    const char *section = "";
    for (const struct config_setting *s = config_settings; s->name; s++) {
        if (strcmp(section, s->section) != 0)
            text_addf(out, "%s.Ss [%s]\n.Bl -tag -width Ds -compact\n", section[0] ? ".El\n" : "",
                      s->section);
        section = s->section;
        text_addf(out, ".It Cm %s", s->name);
        if (s->shipped[0])
            text_addf(out, " No = Ar %s", s->shipped);
        text_add(out, "\n");
        add_text(out, s->help, false);
        text_add(out, "\n");
    }
    text_add(out, ".El\n");
}

static void add_binding(struct text *out, const struct key_binding *b) {
    struct key_help help;
    text_add(out, b->keys[0] ? ".It Cm" : ".It no key");
    for (const char *k = b->keys; *k;) {
        char key[KEY_TEXT];
        size_t n = strcspn(k, " ");
        snprintf(key, sizeof key, "%.*s", (int)n, k);
        text_add(out, k == b->keys ? " " : " , ");
        add_text(out, key, true);
        k += n + (k[n] == ' ');
    }
    text_add(out, "\n");
    keymap_help(b, &help);
    add_text(out, help.text, false);
    text_addf(out, "\n.Pq Cm %s\n", b->name);
}

static void add_keys(struct text *out) {
    for (int s = 0; keymap_sections[s]; s++) {
        /* \& keeps a title's first word from being a macro: "In" is one. */
        text_addf(out, ".Ss \\&%s\n.Bl -tag -width \"Enter, Space\" -compact\n",
                  keymap_sections[s]);
        for (const struct key_binding *b = key_bindings; b->help; b++)
            if (keymap_section(b) == s)
                add_binding(out, b);
        text_add(out, ".El\n");
    }
}

int manual_tables(const char *page, struct text *out, struct err *e) {
    if (strcmp(page, "1") == 0)
        add_options(out);
    else if (strcmp(page, "5") == 0)
        add_settings(out);
    else if (strcmp(page, "7") == 0)
        add_keys(out);
    else
        return err_set(e, EINVAL, "no page %.20s", page);
    return out->failed ? err_set(e, ENOMEM, "no memory") : 0;
}
