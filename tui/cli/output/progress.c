#include "tui/cli/output/progress.h"

#include "core/base/clock.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR_MIN = 10, BAR_MAX = 40, PART = 48 };

static pid_t group; /* process group in whose foreground we draw; 0: the process's own */

void progress_for_group(pid_t of) {
    group = of;
}

/* Returns the columns of the terminal. 0: we must not write there now. */
static int columns_there(void) {
    struct winsize size;
    if (!isatty(STDERR_FILENO) || tcgetpgrp(STDERR_FILENO) != (group ? group : getpgrp()))
        return 0;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col < PROGRESS_COLUMNS ? size.ws_col : PROGRESS_COLUMNS;
}

void progress_open(struct progress *p, bool quiet) {
    *p = (struct progress){.shown = !quiet && isatty(STDERR_FILENO), .rate = -1};
}

/* Writes "3h04m", "12m05s", "18s". */
static void put_time(uint64_t ms, char *out, size_t size) {
    uint64_t s = (ms + 500) / 1000;
    if (s >= 3600)
        snprintf(out, size, "%" PRIu64 "h%02" PRIu64 "m", s / 3600, s / 60 % 60);
    else if (s >= 60)
        snprintf(out, size, "%" PRIu64 "m%02" PRIu64 "s", s / 60, s % 60);
    else
        snprintf(out, size, "%" PRIu64 "s", s);
}

/* Writes a number with commas between thousands. */
static void put_number(uint64_t n, char *out, size_t size) {
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    size_t at = 0;
    for (int i = 0; i < len && at + 2 < size; i++) {
        if (i && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}

static void put_bar(uint64_t ms, uint64_t of_ms, int width, char *out) {
    int inner = width - 2, done = inner;
    if (ms < of_ms)
        done = (int)((double)inner * (double)ms / (double)of_ms);
    out[0] = '[';
    memset(out + 1, ' ', (size_t)inner);
    memset(out + 1, '=', (size_t)done);
    if (done < inner)
        out[1 + done] = '>';
    out[width - 1] = ']';
    out[width] = '\0';
}

void progress_line(const struct progress *p, uint64_t ms, uint64_t of_ms, uint64_t samples,
                   int columns, char *out) {
    char part[3][PART], number[24];
    int room = columns, used = 0;
    put_time(of_ms ? (ms < of_ms ? of_ms - ms : 0) : ms, number, sizeof number);
    snprintf(part[0], PART, "%s%s", number, of_ms ? " left" : "");
    put_number(samples, number, sizeof number);
    snprintf(part[1], PART, "  %s sample%s", number, samples == 1 ? "" : "s");
    put_number(p->rate > 0 ? (uint64_t)(p->rate + 0.5) : 0, number, sizeof number);
    snprintf(part[2], PART, "  %s/s", number);
    int words = 0, shown = p->rate < 0 ? 2 : 3;
    for (int i = 0; i < shown; i++) {
        if (words + (int)strlen(part[i]) > room) {
            shown = i;
            break;
        }
        words += (int)strlen(part[i]);
    }
    int bar = room - words - 2;
    if (of_ms && bar >= BAR_MIN) {
        put_bar(ms, of_ms, bar < BAR_MAX ? bar : BAR_MAX, out);
        used = (int)strlen(out);
        used += sprintf(out + used, "  ");
    }
    out[used] = '\0';
    for (int i = 0; i < shown; i++)
        used += sprintf(out + used, "%s", part[i]);
}

/* Draws over the previous line. The last column stays free, because some terminals wrap there. */
static void draw(struct progress *p, const char *line) {
    int len = (int)strlen(line), blanks = p->columns > len ? p->columns - len : 0;
    fprintf(stderr, "\r%s%*s\r", line, blanks, "");
    fflush(stderr);
    p->columns = len;
}

void progress_profile(struct progress *p, uint64_t ms, uint64_t of_ms, uint64_t samples) {
    char line[PROGRESS_COLUMNS + 1];
    int columns = p->shown ? columns_there() : 0;
    if (columns < 2)
        return;
    if (ms > p->ms && samples >= p->samples)
        p->rate = (double)(samples - p->samples) * 1000 / (double)(ms - p->ms);
    p->ms = ms;
    p->samples = samples;
    progress_line(p, ms, of_ms, samples, columns - 1, line);
    draw(p, line);
}

void progress_clear(struct progress *p) {
    if (p->columns)
        draw(p, "");
    p->columns = 0;
}

struct progress_work {
    struct progress line; /* used by the thread */
    const char *what;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool over;
};

static void draw_work(struct progress *p, const char *what, uint64_t ms) {
    char line[PROGRESS_COLUMNS + 1], time[24];
    int columns = columns_there();
    if (columns < 2)
        return;
    put_time(ms, time, sizeof time);
    snprintf(line, (size_t)columns, "%s %s", time, what);
    draw(p, line);
}

static void *show_work(void *arg) {
    struct progress_work *w = arg;
    struct timespec at = clock_after_ms(CLOCK_MONOTONIC, 0);
    pthread_mutex_lock(&w->lock);
    for (uint64_t ms = 1000; !w->over; ms += 1000) {
        at.tv_sec++;
        int r = pthread_cond_clockwait(&w->ended, &w->lock, CLOCK_MONOTONIC, &at);
        while (r == 0 && !w->over)
            r = pthread_cond_clockwait(&w->ended, &w->lock, CLOCK_MONOTONIC, &at);
        if (!w->over)
            draw_work(&w->line, w->what, ms);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct progress_work *progress_work_begin(bool quiet, const char *what) {
    struct progress_work *w = quiet || !columns_there() ? NULL : calloc(1, sizeof *w);
    if (!w)
        return NULL;
    progress_open(&w->line, quiet);
    w->what = what;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ended, NULL);
    if (pthread_create(&w->thread, NULL, show_work, w) == 0)
        return w;
    free(w);
    return NULL;
}

void progress_work_end(struct progress_work *w) {
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->over = true;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    progress_clear(&w->line);
    pthread_cond_destroy(&w->ended);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
