/*
 * Uses a fleet as it is told, a line at a time, for fleet.py.
 *
 * fleeter AGENT LINGER_MS
 *
 *   enter USER PID EVENT[=INTERVAL]...  "USER ok", or "USER error ERRNO MESSAGE"; in a thread
 *   renew USER PID EVENT[=INTERVAL]...  leaves, and enters in the same breath
 *   as-is USER PID                      the same, but as it is
 *   rewant USER EVENT[=INTERVAL]...     the same
 *   show USER                           "USER users=2 looks_on=0 phase=0 since=0 cpu=1000000:512"
 *   leave USER                          "USER left"
 *   held, jvms                          "held 12 34"
 *   end                                 "ended 120 ms"
 */
#include "core/event/event.h"
#include "core/http/fleet/fleet.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define USERS 8
#define WORDS 16

struct fleeter_user {
    char name[16];
    struct fleet_user *user;
};

struct order {
    struct fleet *fleet;
    struct fleeter_user *to;
    pid_t pid;
    struct fleet_want want;
};

static struct fleeter_user users[USERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of who is in it by now */

static void say(const struct fleeter_user *u, int result, const struct err *e) {
    if (result == 0)
        printf("%s ok\n", u->name);
    else
        printf("%s error %d %s\n", u->name, -result, e->message);
    fflush(stdout);
}

static void *enter_main(void *arg) {
    struct order *o = arg;
    struct err e = {0};
    struct fleet_user *entered;
    int result = fleet_enter(o->fleet, o->pid, &o->want, &entered, &e);
    pthread_mutex_lock(&lock);
    o->to->user = entered;
    pthread_mutex_unlock(&lock);
    say(o->to, result, &e);
    free(o);
    return NULL;
}

static void enter(struct fleet *f, struct fleeter_user *u, pid_t pid, const struct fleet_want *w) {
    struct order *o = calloc(1, sizeof *o);
    pthread_t thread;
    if (!o)
        abort();
    *o = (struct order){.fleet = f, .to = u, .pid = pid, .want = *w};
    if (pthread_create(&thread, NULL, enter_main, o) != 0)
        abort();
    pthread_detach(thread);
}

static int want(char **word, int words, struct fleet_want *out, struct err *e) {
    int result = 0;
    *out = (struct fleet_want){0};
    for (int i = 0; i < words && result == 0; i++) {
        struct wire_engine_request *r = &out->engine[out->engines++];
        char *interval = strchr(word[i], '=');
        if (interval)
            *interval++ = '\0';
        result = event_parse(word[i], r, e);
        if (interval)
            r->interval = strtoull(interval, NULL, 10);
    }
    return result;
}

static void show(const struct fleeter_user *u) {
    struct session_status st;
    session_status(fleet_session(u->user), &st);
    printf("%s users=%u looks_on=%d phase=%d since=%llu", u->name, fleet_users(u->user),
           fleet_looks_on(u->user), (int)st.phase, (unsigned long long)fleet_since(u->user));
    for (uint32_t event = 0; event < WIRE_EVENTS; event++)
        if (st.engine[event].runs)
            printf(" %s=%llu:%llu", st.engine[event].name,
                   (unsigned long long)st.engine[event].interval,
                   (unsigned long long)st.engine[event].samples);
    printf("\n");
}

static void list(const char *what, const pid_t *pid, uint32_t n) {
    printf("%s", what);
    for (uint32_t i = 0; i < n; i++)
        printf(" %d", (int)pid[i]);
    printf("\n");
}

static void list_jvms(struct fleet *f) {
    struct jvm *jvm = NULL;
    struct err e = {0};
    pid_t pid[1024];
    int n = fleet_jvms(f, &jvm, &e);
    for (int i = 0; i < n && i < 1024; i++)
        pid[i] = jvm[i].pid;
    list("jvms", pid, n > 0 ? (uint32_t)n : 0);
    free(jvm);
}

static struct fleeter_user *user(const char *name) {
    for (int i = 0; i < USERS; i++) {
        if (users[i].name[0] == '\0')
            snprintf(users[i].name, sizeof users[i].name, "%s", name);
        if (strcmp(users[i].name, name) != 0)
            continue;
        pthread_mutex_lock(&lock); /* what it was told of that it entered is there */
        pthread_mutex_unlock(&lock);
        return &users[i];
    }
    abort();
}

static void of_user(struct fleet *f, char **word, int words) {
    struct fleeter_user *u = user(word[1]);
    struct err e = {0};
    struct fleet_want w = {0};
    bool renews = strcmp(word[0], "renew") == 0, enters = renews || strcmp(word[0], "enter") == 0;
    int events = enters ? 3 : 2;
    int result = words > events ? want(word + events, words - events, &w, &e) : 0;
    if (strcmp(word[0], "show") == 0) {
        show(u);
    } else if (strcmp(word[0], "leave") == 0) {
        fleet_leave(u->user);
        u->user = NULL;
        printf("%s left\n", u->name);
    } else if (strcmp(word[0], "as-is") == 0) {
        enter(f, u, atoi(word[2]), &(struct fleet_want){.as_it_is = true});
    } else if (result == 0 && enters) {
        if (renews)
            fleet_leave(u->user);
        enter(f, u, atoi(word[2]), &w);
    } else {
        if (result == 0)
            result = fleet_rewant(u->user, &w, &e);
        say(u, result, &e);
    }
}

static void obey(struct fleet *f, char *line) {
    char *word[WORDS], *rest = NULL;
    int words = 0;
    for (char *w = strtok_r(line, " \n", &rest); w && words < WORDS;
         w = strtok_r(NULL, " \n", &rest))
        word[words++] = w;
    pid_t pid[FLEET_MEMBERS_MAX];
    if (words == 1 && strcmp(word[0], "held") == 0)
        list("held", pid, fleet_held(f, pid, FLEET_MEMBERS_MAX));
    else if (words == 1)
        list_jvms(f);
    else if (words > 1)
        of_user(f, word, words);
    fflush(stdout);
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
    struct err e = {0};
    struct fleet *f;
    char line[1024];
    if (argc != 3) {
        fprintf(stderr, "usage: fleeter AGENT LINGER_MS\n");
        return 1;
    }
    struct fleet_options o = {.session.library = argv[1], .linger_ms = (uint32_t)atoi(argv[2])};
    if (fleet_new(&o, &f, &e) != 0) {
        printf("wrong: %s\n", e.message);
        return 1;
    }
    while (fgets(line, sizeof line, stdin) && strcmp(line, "end\n") != 0)
        obey(f, line);
    for (int i = 0; i < USERS; i++)
        if (users[i].name[0])
            fleet_leave(user(users[i].name)->user);
    double begin = now_ms();
    fleet_free(f);
    printf("ended %.0f ms\n", now_ms() - begin);
    return 0;
}
