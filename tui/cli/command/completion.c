/* Completion of our command line in bash, zsh and fish: scripts made from the option table. They
 * call the program itself to list the JVMs. */
#include "tui/cli/command/command.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* What follows an option. */
enum value { VALUE_NONE, VALUE_ANY, VALUE_FILE, VALUE_WORD, VALUE_LIST };

static enum value value_of(const struct option_row *row, struct text *words) {
    text_clear(words);
    option_words(row, words);
    if (!option_takes_value(row))
        return VALUE_NONE;
    if (row->kind == OPTION_EVENT || row->kind == OPTION_FORMAT)
        return VALUE_LIST;
    if (words->len)
        return VALUE_WORD;
    bool file = row->kind == OPTION_PATH || row->kind == OPTION_OUTPUT ||
                strstr(row->argument, "PATH") != NULL;
    return file ? VALUE_FILE : VALUE_ANY;
}

/* True if the option is in the scripts. -n is a flag, except with --batch. */
static bool is_shown(const struct option_row *row) {
    bool again = row->when == WHEN_BATCH || row->when == WHEN_PUSH; /* the name is already there */
    return row->group != GROUP_READER && !again && (row->name[0] || row->name[1]);
}

/* Appends the text, with a backslash before each character of `special`. */
static void add_escaped(struct text *out, const char *s, const char *special) {
    for (; *s; s++)
        text_addf(out, "%s%c", strchr(special, *s) ? "\\" : "", *s);
}

/* Appends one word between apostrophes, inside which a shell interprets nothing. */
static void add_quoted(struct text *out, const char *s) {
    for (; *s; s++)
        text_add_n(out, *s == '\'' ? "'\\''" : s, *s == '\'' ? 4 : 1);
}

/* bash. compgen -W would expand the words, which must not happen to names that other users chose.
 * So the words are compared here. */

static const char bash_begin[] =
    "# Completion of jtop-prof for bash: jtop-prof --completion bash\n"
    "_jtop_prof_among() {\n"
    "    local word\n"
    "    for word in $1; do\n"
    "        [[ $word == \"$2\"* ]] && COMPREPLY+=(\"$3$word\")\n"
    "    done\n"
    "}\n"
    "\n"
    "_jtop_prof() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} pid name IFS=$' "
    "\\t\\n'\n"
    "    COMPREPLY=()\n"
    "    # --option=value comes in three words\n"
    "    if [[ $cur == = ]]; then\n"
    "        cur=\n"
    "    elif [[ $prev == = ]]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    case $prev in\n";

static const char bash_end[] =
    "    if [[ $cur == -* ]]; then\n"
    "        _jtop_prof_among \"$options\" \"$cur\"\n"
    "        return\n"
    "    fi\n"
    "    [[ $COMP_CWORD == 1 ]] && _jtop_prof_among \"$actions\" \"$cur\"\n"
    "    while read -r pid name; do\n"
    "        [[ $pid == \"$cur\"* ]] && COMPREPLY+=(\"$pid\")\n"
    "        [[ -n $name && $name == \"$cur\"* ]] && COMPREPLY+=(\"$name\")\n"
    "    done < <(\"${COMP_WORDS[0]}\" --names 2>/dev/null)\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    while read -r name; do\n"
    "        [[ -n $cur ]] && COMPREPLY+=(\"$name\")\n"
    "    done < <(compgen -f -- \"$cur\")\n"
    "}\n"
    "complete -o bashdefault -F _jtop_prof jtop-prof\n";

static void bash_names(struct text *out, const struct option_row *row, const char *between) {
    text_addf(out, "%s%s%s", row->name[0] ? row->name[0] : "",
              row->name[0] && row->name[1] ? between : "", row->name[1] ? row->name[1] : "");
}

static void bash_row(struct text *out, const struct option_row *row, struct text *words) {
    enum value value = value_of(row, words);
    if (value == VALUE_NONE)
        return;
    text_add(out, "    ");
    bash_names(out, row, " | ");
    text_add(out, ")\n");
    if (value == VALUE_LIST) /* the text before the last comma stays */
        text_addf(out,
                  "        local before=\n"
                  "        [[ $cur == *,* ]] && before=${cur%%,*},\n"
                  "        _jtop_prof_among '%s' \"${cur##*,}\" \"$before\"\n",
                  words->data);
    else if (value == VALUE_WORD)
        text_addf(out, "        _jtop_prof_among '%s' \"$cur\"\n", words->data);
    else if (value == VALUE_FILE)
        text_add(out, "        compopt -o filenames 2>/dev/null\n"
                      "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n");
    text_add(out, "        return\n        ;;\n");
}

static void bash_script(struct text *out) {
    struct text words = {0};
    text_add(out, bash_begin);
    for (int i = 0; i < option_row_count; i++)
        if (is_shown(&option_rows[i]))
            bash_row(out, &option_rows[i], &words);
    text_add(out, "    esac\n    local options='");
    for (int i = 0; i < option_row_count; i++) {
        if (!is_shown(&option_rows[i]))
            continue;
        bash_names(out, &option_rows[i], " ");
        text_add(out, " ");
    }
    text_add(out, "' actions='");
    options_actions(out);
    text_add(out, "'\n");
    text_add(out, bash_end);
    text_free(&words);
}

/* zsh. */

static const char zsh_begin[] =
    "#compdef jtop-prof\n"
    "# Completion of jtop-prof for zsh: jtop-prof --completion zsh\n"
    "_jtop_prof_jvm() {\n"
    "    local -a lines pids names\n"
    "    lines=(\"${(@f)$(_call_program jvms ${(q)words[1]} --names 2>/dev/null)}\")\n"
    "    names=(${${(M)lines:#* *}#* })\n"
    "    pids=(${lines%% *})\n"
    "    [[ -n $pids ]] && compadd -d lines -a pids\n"
    "    [[ -n $names ]] && compadd -a names\n"
    "    compadd jps\n"
    "}\n"
    "\n"
    "_jtop_prof_target() {\n"
    "    local -a actions\n"
    "    actions=(";

static const char zsh_middle[] = ")\n"
                                 "    (( CURRENT == 2 )) && compadd -a actions\n"
                                 "    _jtop_prof_jvm\n"
                                 "    _files\n"
                                 "}\n"
                                 "\n"
                                 "_arguments -s \\\n";

static void zsh_row(struct text *out, const struct option_row *row, struct text *words) {
    enum value value = value_of(row, words);
    const char *again = row->kind == OPTION_OUTPUT || row->kind == OPTION_EVENT ? "*" : "";
    for (int i = 0; i < 2; i++) {
        if (!row->name[i])
            continue;
        bool is_long = row->name[i][1] == '-';
        text_addf(out, "    '%s%s%s[", again, row->name[i],
                  value == VALUE_NONE ? ""
                  : is_long           ? "="
                                      : "+");
        struct text help = {0};
        add_escaped(&help, row->help, "[]\\:");
        add_quoted(out, help.data ? help.data : "");
        text_free(&help);
        text_add(out, "]");
        if (value != VALUE_NONE)
            text_addf(out, ":%.*s:", (int)strcspn(row->argument, "["), row->argument);
        if (value == VALUE_FILE)
            text_add(out, "_files");
        else if (value == VALUE_WORD)
            text_addf(out, "(%s)", words->data);
        else if (value == VALUE_LIST)
            text_addf(out, "_sequence compadd - %s", words->data);
        text_add(out, "' \\\n");
    }
}

static void zsh_script(struct text *out) {
    struct text words = {0};
    text_add(out, zsh_begin);
    options_actions(out);
    text_add(out, zsh_middle);
    for (int i = 0; i < option_row_count; i++)
        if (is_shown(&option_rows[i]))
            zsh_row(out, &option_rows[i], &words);
    text_add(out, "    '*:JVM:_jtop_prof_target'\n");
    text_free(&words);
}

/* fish. */

static const char fish_begin[] =
    "# Completion of jtop-prof for fish: jtop-prof --completion fish\n"
    "function __jtop_prof_list\n"
    "    set -l before (string replace -r '[^,]*$' '' -- (commandline -ct | string replace -r "
    "'^--[^=]*=' ''))\n"
    "    for word in $argv\n"
    "        echo $before$word\n"
    "    end\n"
    "end\n"
    "\n"
    "function __jtop_prof_jvms\n"
    "    set -l program (commandline -opc)[1]\n"
    "    command $program --names 2>/dev/null | while read -l pid name\n"
    "        printf '%s\\t%s\\n' $pid $name\n"
    "        test -n \"$name\"; and printf '%s\\tPID %s\\n' $name $pid\n"
    "    end\n"
    "end\n"
    "\n"
    "complete -c jtop-prof -a '(__jtop_prof_jvms)'\n"
    "complete -c jtop-prof -n 'test (count (commandline -opc)) = 1' -a '";

static void fish_row(struct text *out, const struct option_row *row, struct text *words) {
    enum value value = value_of(row, words);
    text_add(out, "complete -c jtop-prof");
    for (int i = 0; i < 2; i++)
        if (row->name[i])
            text_addf(out, " -%s %s", row->name[i][1] == '-' ? "l" : "s",
                      row->name[i] + (row->name[i][1] == '-' ? 2 : 1));
    text_add(out, " -d '");
    add_escaped(out, row->help, "'\\");
    text_add(out, "'");
    if (value == VALUE_FILE)
        text_add(out, " -r -F");
    else if (value == VALUE_LIST)
        text_addf(out, " -x -a '(__jtop_prof_list %s)'", words->data);
    else if (value != VALUE_NONE)
        text_addf(out, " -x%s%s%s", words->len ? " -a '" : "", words->len ? words->data : "",
                  words->len ? "'" : "");
    text_add(out, "\n");
}

static void fish_script(struct text *out) {
    struct text words = {0};
    text_add(out, fish_begin);
    options_actions(out);
    text_add(out, "'\n");
    for (int i = 0; i < option_row_count; i++)
        if (is_shown(&option_rows[i]))
            fish_row(out, &option_rows[i], &words);
    text_free(&words);
}

int completion_script(const char *shell, struct text *out, struct err *e) {
    static const struct {
        const char *shell;
        void (*write)(struct text *out);
    } shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(shells[i].shell, shell) != 0)
            continue;
        shells[i].write(out);
        return out->failed ? err_set(e, ENOMEM, "no memory") : 0;
    }
    return err_set(e, EINVAL, "no completion for %.40s; there is: bash, zsh, fish", shell);
}

static bool is_harmless(const char *name) {
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && !strchr("._-$/", *name))
            return false;
    return true;
}

void completion_names(struct text *out, const struct jvm *jvms, int count) {
    for (int i = 0; i < count; i++) {
        const char *name = jvms[i].name;
        bool shown = is_harmless(name) && name[0] != '-' && name[0];
        text_addf(out, "%d%s%s\n", (int)jvms[i].pid, shown ? " " : "", shown ? name : "");
    }
}
