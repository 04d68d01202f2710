/*
 * Embeds svg_script.js and svg_style.css, unchanged, in the program. The assembler looks for them
 * relative to the directory in which the compiler runs, which is the root of the source tree.
 * embed.mk makes the object depend on them.
 */
#include "core/export/web/svg.h"

#define EMBED(symbol, path)                                                                        \
    __asm__(".section .rodata\n"                                                                   \
            ".global " #symbol "\n" #symbol ":\n"                                                  \
            ".incbin \"" path "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".previous\n")

EMBED(svg_script_js, "core/export/web/svg_script.js");
EMBED(svg_style_css, "core/export/web/svg_style.css");
