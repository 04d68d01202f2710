/*
 * Scripts, style and bodies of the pages, embedded unchanged in the program. The assembler finds
 * them from the directory in which the compiler runs, the root of the source tree; embed.mk makes
 * the object depend on them.
 */
#include "core/http/serve/page/pages.h"

#include <stddef.h>

#define EMBED(symbol, path)                                                                        \
    __asm__(".section .rodata\n"                                                                   \
            ".global " #symbol "\n" #symbol ":\n"                                                  \
            ".incbin \"core/http/serve/page/" path "\"\n"                                          \
            ".byte 0\n"                                                                            \
            ".previous\n")

extern const char live_numbers_js[], live_theme_js[], live_colours_js[], live_tree_js[],
    live_table_js[], live_methods_js[], live_threads_js[], live_flame_js[], live_picture_js[],
    live_timeline_js[], live_stream_js[], live_header_js[], live_keys_js[], live_about_js[],
    live_axis_js[], live_link_js[], live_tools_js[], live_tree_table_js[], live_node_table_js[],
    live_locks_js[], live_alloc_js[], live_status_js[], live_findings_js[], live_main_js[],
    live_list_js[];

EMBED(pages_style, "live_style.css");
EMBED(pages_list_body, "live_list.html");
EMBED(pages_live_body, "live_page.html");

EMBED(live_numbers_js, "live_numbers.js");
EMBED(live_theme_js, "live_theme.js");
EMBED(live_colours_js, "live_colours.js");
EMBED(live_tree_js, "live_tree.js");
EMBED(live_table_js, "live_table.js");
EMBED(live_methods_js, "live_methods.js");
EMBED(live_tree_table_js, "live_tree_table.js");
EMBED(live_node_table_js, "live_node_table.js");
EMBED(live_locks_js, "live_locks.js");
EMBED(live_alloc_js, "live_alloc.js");
EMBED(live_status_js, "live_status.js");
EMBED(live_threads_js, "live_threads.js");
EMBED(live_flame_js, "live_flame.js");
EMBED(live_picture_js, "live_picture.js");
EMBED(live_axis_js, "live_axis.js");
EMBED(live_timeline_js, "live_timeline.js");
EMBED(live_link_js, "live_link.js");
EMBED(live_tools_js, "live_tools.js");
EMBED(live_stream_js, "live_stream.js");
EMBED(live_header_js, "live_header.js");
EMBED(live_keys_js, "live_keys.js");
EMBED(live_about_js, "live_about.js");
EMBED(live_findings_js, "live_findings.js");
EMBED(live_main_js, "live_main.js");
EMBED(live_list_js, "live_list.js");

const char *const *pages_script(enum page page) {
    static const char *const list[] = {live_numbers_js, live_theme_js, live_list_js, NULL};
    static const char *const live[] = {
        live_numbers_js,  live_theme_js,   live_colours_js,    live_tree_js,       live_table_js,
        live_methods_js,  live_threads_js, live_tree_table_js, live_node_table_js, live_locks_js,
        live_alloc_js,    live_status_js,  live_flame_js,      live_picture_js,    live_axis_js,
        live_timeline_js, live_link_js,    live_stream_js,     live_header_js,     live_tools_js,
        live_keys_js,     live_about_js,   live_findings_js,   live_main_js,       NULL};
    return page == PAGE_LIVE ? live : list;
}
