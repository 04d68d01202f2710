#include "core/base/expression.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define HEAP_KB 16384u
#define STACK_BYTES 32768u /* of the machine code, at first; at most STACK_BYTES_MAX */
#define STACK_BYTES_MAX (1u << 20)

/* Texts that test an expression's cost: they are expensive for expressions that try every way to
 * divide a text. */
static const char *const trials[] = {
    "",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
    "java.util.concurrent.ThreadPoolExecutor$Worker.runWorker(Ljava/lang/Object;)V_0123",
};

/* Machine code is ten times as fast. Where it is not available, the interpreter gets a lower limit
 * on steps. */
static void make_code(struct expression *x) {
    x->steps_max = EXPRESSION_STEPS_SLOW;
    if (pcre2_jit_compile(x->code, PCRE2_JIT_COMPLETE) != 0)
        return;
    x->stack = pcre2_jit_stack_create(STACK_BYTES, STACK_BYTES_MAX, NULL);
    if (x->stack)
        pcre2_jit_stack_assign(x->limits, NULL, x->stack);
    x->steps_max = EXPRESSION_STEPS_MAX;
}

static int compile(struct expression *x, const char *text, bool ignore_case, char *why,
                   size_t size) {
    const uint32_t options = PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C |
                             PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY |
                             (ignore_case ? PCRE2_CASELESS : 0);
    int error = 0;
    PCRE2_SIZE at = 0;
    x->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, options, &error, &at, NULL);
    if (x->code)
        return 0;
    PCRE2_UCHAR message[120] = "";
    pcre2_get_error_message(error, message, sizeof message);
    if (text[at])
        snprintf(why, size, "%s, at \"%.20s\"", (const char *)message, text + at);
    else
        snprintf(why, size, "%s, at the end", (const char *)message);
    return error == PCRE2_ERROR_NOMEMORY || error == PCRE2_ERROR_HEAP_FAILED ? -ENOMEM : -EINVAL;
}

int expression_open(struct expression *x, const char *text, bool ignore_case, char *why,
                    size_t size) {
    *x = (struct expression){0};
    snprintf(why, size, "%s", "");
    int r = compile(x, text, ignore_case, why, size);
    if (r < 0)
        return r;
    x->limits = pcre2_match_context_create(NULL);
    x->match = pcre2_match_data_create(1, NULL);
    if (!x->limits || !x->match) {
        expression_close(x);
        return -ENOMEM;
    }
    pcre2_set_heap_limit(x->limits, HEAP_KB);
    make_code(x);
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        (void)expression_matches(x, trials[i]);
    if (x->gave_up) {
        expression_close(x);
        snprintf(why, size, "it takes too long");
        return -EINVAL;
    }
    x->long_searches = 0;
    return 0;
}

static int search(struct expression *x, const char *text, size_t bytes, uint32_t steps) {
    pcre2_set_match_limit(x->limits, steps);
    return pcre2_match(x->code, (PCRE2_SPTR)text, bytes, 0, 0, x->match, x->limits);
}

bool expression_matches(struct expression *x, const char *text) {
    size_t bytes = strlen(text);
    int r = search(x, text, bytes, EXPRESSION_STEPS);
    if (r == PCRE2_ERROR_MATCHLIMIT && x->long_searches < EXPRESSION_LONG_MAX) {
        x->long_searches++;
        r = search(x, text, bytes, x->steps_max);
    }
    x->gave_up |= r < 0 && r != PCRE2_ERROR_NOMATCH;
    return r >= 0;
}

void expression_close(struct expression *x) {
    pcre2_match_data_free(x->match);
    pcre2_match_context_free(x->limits);
    pcre2_jit_stack_free(x->stack);
    pcre2_code_free(x->code);
    *x = (struct expression){0};
}
