#include "core/http/serve/api/json.h"

#include "core/export/json_text.h"

#include <math.h>

static void begin_value(struct json *j, const char *key) {
    if (j->more)
        text_add_n(j->out, ",", 1);
    j->more = true;
    if (!key)
        return;
    text_add_n(j->out, "\"", 1);
    text_add(j->out, key);
    text_add_n(j->out, "\":", 2);
}

void json_begin(struct json *j, const char *key, char bracket) {
    begin_value(j, key);
    text_add_n(j->out, &bracket, 1);
    j->more = false;
}

void json_end(struct json *j, char bracket) {
    text_add_n(j->out, &bracket, 1);
    j->more = true;
}

void json_string(struct json *j, const char *key, const char *value) {
    begin_value(j, key);
    json_text_string(j->out, value);
}

void json_number(struct json *j, const char *key, uint64_t value) {
    begin_value(j, key);
    json_text_number(j->out, value);
}

void json_real(struct json *j, const char *key, double value) {
    begin_value(j, key);
    text_addf(j->out, "%.3f", isfinite(value) ? value : 0.0);
}

void json_bool(struct json *j, const char *key, bool value) {
    begin_value(j, key);
    text_add(j->out, value ? "true" : "false");
}

void json_null(struct json *j, const char *key) {
    begin_value(j, key);
    text_add(j->out, "null");
}
