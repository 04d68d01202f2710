/* A file in the spool's directory, and the answer of a receiver: as found, and with the checksum set
 * right, which a fuzzer does not guess. */
#include "core/http/push/protocol/answer.h"
#include "core/http/push/protocol/message.h"
#include "core/http/push/spool/spool_file.h"
#include "core/http/push/spool/spool_name.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CRC_AT 12

static void must(bool holds) {
    if (!holds)
        abort();
}

static void parse(const uint8_t *data, size_t size) {
    struct push_message *m = NULL;
    int r = spool_file_parse(data, size, "otlp", &m);
    must((r == 0) == (m != NULL));
    if (!m)
        return;
    must(message_is_sound(m));
    must(spool_file_bytes("otlp", m) == size);
    must(m->body.len <= size);
    message_free(m);
}

static void parse_with_checksum(const uint8_t *data, size_t size) {
    if (size < SPOOL_FILE_HEADER)
        return;
    uint8_t *copy = malloc(size);
    must(copy != NULL);
    memcpy(copy, data, size);
    uint32_t crc = (uint32_t)crc32_z(0, copy, CRC_AT);
    crc = (uint32_t)crc32_z(crc, copy + CRC_AT + 4, size - CRC_AT - 4);
    memcpy(copy + CRC_AT, &crc, sizeof crc);
    parse(copy, size);
    free(copy);
}

static void name(const uint8_t *data, size_t size) {
    char text[64], again[SPOOL_NAME_SIZE];
    struct spool_name n;
    size = size < sizeof text ? size : sizeof text - 1;
    memcpy(text, data, size);
    text[size] = '\0';
    if (spool_name_parse(text, &n) != 0)
        return;
    spool_name_format(n, again);
    must(strcmp(text, again) == 0);
    must(spool_name_compare(n, spool_name_after(n, n.time_ns)) < 0);
}

static void answer(const uint8_t *data, size_t size) {
    static struct post_result r;
    struct answer a;
    if (size < 4)
        return;
    memset(&r, 0, sizeof r);
    r.curl = data[0];
    r.status = data[1] & 1 ? 0 : 200u + data[2] * 2u;
    r.os_error = data[3];
    data += 4, size -= 4;
    memcpy(r.error, data, size < sizeof r.error ? size : sizeof r.error - 1);
    memcpy(r.location, data, size < sizeof r.location ? size : sizeof r.location - 1);
    r.bytes = size < POST_BODY_MAX ? size : POST_BODY_MAX;
    memcpy(r.body, data, r.bytes);
    answer_judge(&r, NULL, size, &a);
    must(strnlen(a.why, sizeof a.why) < sizeof a.why);
    for (const char *c = a.why; *c; c++)
        must((unsigned char)*c >= ' ' && *c != 0x7f);
    must(a.kind == ANSWER_TAKEN || a.why[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    parse(data, size);
    parse_with_checksum(data, size);
    name(data, size);
    answer(data, size);
    return 0;
}
