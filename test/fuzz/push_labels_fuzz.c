/* What a JVM says of itself as labels, and what receivers answer: the first byte says which. */
#include "core/http/push/protocol/label_sources.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds)
        abort();
}

static void check_name(const char *name) {
    must(name[0] && strncmp(name, "__", 2) != 0 && !(name[0] >= '0' && name[0] <= '9'));
    for (; *name; name++)
        must((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
             (*name >= '0' && *name <= '9') || *name == '_' || *name == '.');
}

static void check(const struct push_labels *l) {
    must(l->count <= PUSH_LABELS_MAX);
    for (uint32_t i = 0; i < l->count; i++) {
        const struct push_label *at = &l->item[i];
        must(memchr(at->name, 0, sizeof at->name) && memchr(at->value, 0, sizeof at->value));
        must(!i || strcmp(l->item[i - 1].name, at->name) < 0);
        must(at->value[0]);
        check_name(at->name);
        for (const char *c = at->value; *c; c++)
            must((unsigned char)*c >= ' ' && *c != 127);
    }
}

static void judge(const uint8_t *data, size_t size) {
    char why[64];
    for (const struct push_protocol *p = push_protocols; p->name; p++) {
        (void)p->judge(200, (const char *)data, size, why, sizeof why);
        must(memchr(why, 0, sizeof why));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct push_labels l = {0};
    if (!size)
        return 0;
    char *text = malloc(size); /* with a NUL where the first byte was */
    must(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] % 6) {
    case 0:
        label_sources_cgroup(text, &l);
        break;
    case 1:
        label_sources_environ(text, size, &l);
        break;
    case 2:
        label_sources_cmdline(text, size, &l);
        break;
    case 3:
        label_sources_attributes(text, &l);
        break;
    case 4:
        (void)labels_set_pair(&l, text);
        break;
    default:
        judge(data + 1, size - 1);
        break;
    }
    check(&l);
    free(text);
    return 0;
}
