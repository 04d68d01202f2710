#include "core/base/expression.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define HEAP_KB 1024u

/* Texts with which expressions that try every way to divide a text show what they cost. */
static const char *const trials[] = {
    "",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
    "java.util.concurrent.ThreadPoolExecutor$Worker.runWorker(Ljava/lang/Object;)V_0123",
};

int expression_open(struct expression *x, const char *text, bool ignore_case, char *why,
                    size_t size) {
    const uint32_t options = PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C |
                             PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY |
                             (ignore_case ? PCRE2_CASELESS : 0);
    int error = 0;
    PCRE2_SIZE at = 0;
    *x = (struct expression){0};
    snprintf(why, size, "%s", "");
    x->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, options, &error, &at, NULL);
    if (!x->code) {
        PCRE2_UCHAR message[120] = "";
        pcre2_get_error_message(error, message, sizeof message);
        snprintf(why, size, "%s, at \"%.20s\"", (const char *)message, text + at);
        return error == PCRE2_ERROR_NOMEMORY ? -ENOMEM : -EINVAL;
    }
    x->limits = pcre2_match_context_create(NULL);
    x->match = pcre2_match_data_create(1, NULL);
    if (!x->limits || !x->match) {
        expression_close(x);
        return -ENOMEM;
    }
    pcre2_set_match_limit(x->limits, EXPRESSION_STEPS);
    pcre2_set_depth_limit(x->limits, EXPRESSION_STEPS);
    pcre2_set_heap_limit(x->limits, HEAP_KB);
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        (void)expression_matches(x, trials[i]);
    if (x->failures == 0)
        return 0;
    expression_close(x);
    snprintf(why, size, "it takes too long");
    return -EINVAL;
}

bool expression_matches(struct expression *x, const char *text) {
    if (x->failures >= EXPRESSION_FAILURES)
        return false;
    int r = pcre2_match(x->code, (PCRE2_SPTR)text, strlen(text), 0, 0, x->match, x->limits);
    x->failures += r < 0 && r != PCRE2_ERROR_NOMATCH;
    return r >= 0;
}

void expression_close(struct expression *x) {
    pcre2_match_data_free(x->match);
    pcre2_match_context_free(x->limits);
    pcre2_code_free(x->code);
    *x = (struct expression){0};
}
