#include "core/push/protocol.h"

#include <stddef.h>

const struct push_protocol push_protocols[] = {{0}};

const struct push_protocol *push_protocol_by_name(const char *name) {
    (void)name;
    return NULL;
}

const struct push_protocol *push_protocol_by_url(const char *url) {
    (void)url;
    return NULL;
}
