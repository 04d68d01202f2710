#include "attach/find/java_args.h"

#include <string.h>

/* Options whose value is the next word. */
static const char *const with_value[] = {
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--limit-modules",
    "--add-exports",
    "--add-opens",
    "--add-reads",
    "--patch-module",
    "--enable-native-access",
    "--source",
};

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool takes_value(const char *word) {
    for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++)
        if (strcmp(word, with_value[i]) == 0)
            return true;
    return false;
}

/* The word after the one at `word`; NULL at the end. */
static const char *next_word(const char *word, const char *end) {
    word += strlen(word) + 1;
    return word < end ? word : NULL;
}

/* Finds the word that names the program to run: the one after -jar, -m or --module, else the first
 * that is neither an option nor an option's value nor an @argument file. */
static const char *main_word(const char *cmdline, const char *end) {
    const char *word = next_word(cmdline, end);
    while (word) {
        if (strcmp(word, "-jar") == 0 || strcmp(word, "-m") == 0 || strcmp(word, "--module") == 0)
            return next_word(word, end);
        if (strncmp(word, "--module=", 9) == 0)
            return word + 9;
        if (takes_value(word))
            word = next_word(word, end);
        else if (*word != '-' && *word != '@')
            return word;
        if (word)
            word = next_word(word, end);
    }
    return NULL;
}

bool java_args_parse(const char *cmdline, size_t len, struct java_args *out) {
    if (len == 0 || cmdline[len - 1] != '\0')
        return false;
    const char *end = cmdline + len, *word = NULL;
    if (strcmp(base_name(cmdline), "java") == 0)
        word = main_word(cmdline, end);
    if (!word)
        word = cmdline;
    if (*word == '\0')
        return false;
    const char *program = word + strlen(word) + 1;
    *out = (struct java_args){.main = word,
                              .options_len = (size_t)(word - cmdline),
                              .program = program,
                              .program_len = (size_t)(end - program)};
    return true;
}

static bool separator(char c) {
    return c == '\0' || c == ' ' || c == '\t' || c == '\n' || c == '"' || c == '\'';
}

int java_args_flag(const char *text, size_t len, const char *flag) {
    int found = 0;
    size_t flag_len = strlen(flag);
    for (size_t i = 0; i + 5 + flag_len <= len; i++) {
        const char *p = text + i;
        if (memcmp(p, "-XX:", 4) != 0 || (p[4] != '+' && p[4] != '-') ||
            memcmp(p + 5, flag, flag_len) != 0)
            continue;
        size_t after = i + 5 + flag_len;
        if ((i == 0 || separator(text[i - 1])) && (after == len || separator(text[after])))
            found = p[4] == '+' ? 1 : -1;
    }
    return found;
}
