/*
 * What the HTML flame graph is made of, as it stands in the source tree.
 *
 * Context: pure.
 */
#ifndef JTOP_EXPORT_HTML_H
#define JTOP_EXPORT_HTML_H

extern const char html_script_js[];
extern const char html_style_css[];

#endif
