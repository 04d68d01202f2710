#include "core/import/reader.h"

#include <errno.h>

static bool knows(const uint8_t *head, size_t bytes, bool whole) {
    (void)head, (void)bytes, (void)whole;
    return false;
}

static int read(const uint8_t *data, size_t bytes, import_record *each, void *arg,
                struct import_result *result, struct err *e) {
    (void)data, (void)bytes, (void)each, (void)arg, (void)result;
    return err_set(e, ENOTSUP, "not read yet");
}

const struct import_reader import_jfr = {"jfr", knows, read};
