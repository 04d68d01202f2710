#include "core/session/drain/unwind_area.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define PIECE_ROWS 1024u

static_assert((int)WIRE_CFA_NONE == UNWIND_CFA_NONE && (int)WIRE_CFA_SP == UNWIND_CFA_SP &&
                  (int)WIRE_CFA_FP == UNWIND_CFA_FP &&
                  (int)WIRE_CFA_FP_DEREF == UNWIND_CFA_FP_DEREF &&
                  (int)WIRE_CFA_PLT == UNWIND_CFA_PLT &&
                  (int)WIRE_CFA_SIGNAL == UNWIND_CFA_SIGNAL &&
                  (int)WIRE_CFA_END == UNWIND_CFA_END && (int)WIRE_CFAS == UNWIND_CFAS &&
                  WIRE_UNWIND_SAME == UNWIND_SAME,
              "core/wire/unwind.h and symbols/unwind have the same numbers");

void unwind_area_init(struct unwind_area *a, struct wire_unwind *wire, uint64_t now_ns) {
    *a = (struct unwind_area){.wire = wire, .fd = -1};
    a->rows = __atomic_load_n(&wire->rows, __ATOMIC_RELAXED);
    if (a->rows > WIRE_UNWIND_ROWS_MAX)
        a->rows = WIRE_UNWIND_ROWS_MAX;
    a->current = atomic_load_explicit(&wire->current, memory_order_relaxed) & 1;
    a->generation = atomic_load_explicit(&wire->generation, memory_order_relaxed);
    if (a->generation)
        a->ready_ns = now_ns + WIRE_UNWIND_GRACE_MS * UINT64_C(1000000);
}

static void write_rows(const struct unwind_area *a, uint32_t at, const struct wire_unwind_row *row,
                       size_t count) {
    size_t bytes = count * sizeof *row;
    uint64_t to = a->offset + offsetof(struct wire_unwind, row) + at * sizeof *row;
    if (a->fd < 0 || pwrite(a->fd, row, bytes, (off_t)to) != (ssize_t)bytes)
        memcpy(a->wire->row + at, row, bytes);
}

int unwind_area_add(struct unwind_area *a, const struct unwind_row *rows, size_t count,
                    uint32_t *first) {
    if (count > WIRE_UNWIND_ROWS_MAX - a->rows)
        return -ENOSPC;
    struct wire_unwind_row piece[PIECE_ROWS];
    for (size_t i = 0, n; i < count; i += n) {
        for (n = 0; n < PIECE_ROWS && i + n < count; n++)
            piece[n] = (struct wire_unwind_row){
                .pc = rows[i + n].pc,
                .cfa_offset = rows[i + n].cfa_offset,
                .fp_offset = rows[i + n].fp_offset,
                .ra_offset = rows[i + n].ra_offset,
                .cfa = rows[i + n].cfa,
            };
        write_rows(a, a->rows + (uint32_t)i, piece, n);
    }
    *first = a->rows;
    a->rows += (uint32_t)count;
    __atomic_store_n(&a->wire->rows, a->rows, __ATOMIC_RELEASE);
    return 0;
}

int unwind_area_publish(struct unwind_area *a, const struct wire_unwind_module *list,
                        uint32_t count, uint64_t now_ns) {
    if (now_ns < a->ready_ns)
        return -EAGAIN;
    uint32_t other = !a->current;
    if (count > WIRE_UNWIND_MODULES_MAX)
        count = WIRE_UNWIND_MODULES_MAX;
    memcpy(a->wire->module[other], list, count * sizeof *list);
    a->wire->modules[other] = count;
    atomic_store_explicit(&a->wire->current, other, memory_order_release);
    atomic_store_explicit(&a->wire->generation, ++a->generation, memory_order_release);
    a->current = other;
    a->ready_ns = now_ns + WIRE_UNWIND_GRACE_MS * UINT64_C(1000000);
    return 0;
}
