/*
 * Files:
 *   login_page    handler of /login: token form, cookie and redirect
 *   pages         handlers of the browser pages: list of JVMs, live page of one JVM
 *   pages_assets  scripts, style and HTML of the pages, embedded in the program
 *   pages_hash    SHA-256 of a script in base64, for the Content-Security-Policy
 *
 * The pages for browsers. Each one is a single answer, which requests only /api/v1. Its
 * script and its style are part of it: several files of the source tree, one after another. The
 * policy that is sent with it allows only these, by their hashes.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_PAGE_PAGES_H
#define JTOP_HTTP_SERVE_PAGE_PAGES_H

#include "attach/find/jvm.h"
#include "core/base/text.h"

#include <stdint.h>

enum page { PAGE_LIST, PAGE_LIVE, PAGES };

/* Writes the whole answer. `jvms` are sorted by pid. If memory ran out: out->failed. */
void pages_list(struct text *out, const struct jvm *jvms, int count, const char *trouble);
void pages_live(struct text *out, const struct jvm *jvm);

/* The Content-Security-Policy of a page; valid as long as the process lives. */
const char *pages_policy(enum page page);

/* The files of a page's script in their order, NULL after the last; each as it is in the source
 * tree. */
const char *const *pages_script(enum page page);
extern const char pages_style[];
extern const char pages_live_body[];
extern const char pages_list_body[];

#endif
