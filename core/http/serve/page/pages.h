/*
 * Files:
 *   login_page    handler of /login: token form, cookie and redirect
 *   pages         handlers of the browser pages: list of JVMs, live page of one JVM
 *   pages_assets  scripts, style and HTML of the pages, embedded in the program
 *   pages_hash    SHA-256 of a script in base64, for the Content-Security-Policy
 *
 * The pages for browsers: each is one answer that asks for nothing but /api/v1. Its script and its
 * style are in it, several files of the source tree one behind the other, and the policy that goes
 * along allows just them, by what they hash to.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_PAGE_PAGES_H
#define JTOP_HTTP_SERVE_PAGE_PAGES_H

#include "attach/find/jvm.h"
#include "core/base/text.h"

#include <stdint.h>

enum page { PAGE_LIST, PAGE_LIVE, PAGES };

/* The whole answer. `jvms` are sorted by pid. What did not fit into memory: out->failed. */
void pages_list(struct text *out, const struct jvm *jvms, int count, const char *trouble);
void pages_live(struct text *out, const struct jvm *jvm);

/* Content-Security-Policy of a page; lives as long as the process. */
const char *pages_policy(enum page page);

/* A page's script: its files in their order, NULL behind the last; each as it stands in the source
 * tree. */
const char *const *pages_script(enum page page);
extern const char pages_style[];
extern const char pages_live_body[];
extern const char pages_list_body[];

#endif
