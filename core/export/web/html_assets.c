/*
 * Embeds the scripts and styles of the pages, unchanged, in the program. See svg_assets.c.
 */
#include "core/export/web/html.h"

#define EMBED(symbol, path)                                                                        \
    __asm__(".section .rodata\n"                                                                   \
            ".global " #symbol "\n" #symbol ":\n"                                                  \
            ".incbin \"" path "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".previous\n")

EMBED(html_data_js, "core/export/web/html_data.js");
EMBED(html_script_js, "core/export/web/html_script.js");
EMBED(html_style_css, "core/export/web/html_style.css");
EMBED(tree_script_js, "core/export/web/tree_script.js");
EMBED(tree_style_css, "core/export/web/tree_style.css");
