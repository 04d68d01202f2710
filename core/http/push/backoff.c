#include "core/http/push/backoff.h"

uint32_t backoff_next(struct backoff *b, uint32_t random, uint32_t asked_s) {
    uint32_t middle = BACKOFF_MOST_MS;
    if (b->failures < 6)
        middle = (uint32_t)BACKOFF_LEAST_MS << b->failures;
    b->failures += b->failures < 1000;
    uint32_t wait = middle - middle / 4 + random % (middle / 2 + 1);
    wait = wait < BACKOFF_LEAST_MS ? BACKOFF_LEAST_MS : wait;
    wait = wait > BACKOFF_MOST_MS ? BACKOFF_MOST_MS : wait;
    uint32_t asked = (asked_s < BACKOFF_ASKED_MOST_S ? asked_s : BACKOFF_ASKED_MOST_S) * 1000;
    return asked > wait ? asked + random % 1000 : wait; /* never earlier than asked for */
}
