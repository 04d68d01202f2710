#include "tui/screen/jvm_tabs.h"

#include "tui/model/source_session.h"
#include "tui/screen/live_setup.h"
#include "tui/screen/save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN_REFRESH_NS UINT64_C(5000000000)

static void free_tab(struct jvm_tab *tab) {
    screen_free(tab->screen);
    model_free(&tab->model);
    session_close(tab->session);
    free(tab);
}

int jvm_tabs_open(struct jvm_tabs *t, struct session *s, const struct live_options *o,
                  const char *replay, uint64_t now_ns, struct err *e) {
    struct jvm_tab *tab = t->count < JVM_TABS_MAX ? calloc(1, sizeof *tab) : NULL;
    if (!tab) {
        session_close(s);
        return t->count < JVM_TABS_MAX
                   ? err_set(e, ENOMEM, "no memory for the screen")
                   : err_set(e, EMFILE, "%d JVMs are open: close one first", t->count);
    }
    struct model_source source = source_session(s, !replay);
    const struct model_settings settings = live_settings(o);
    tab->session = s;
    tab->replay = replay;
    tab->opened_ns = tab->refresh_ns = now_ns;
    model_init(&tab->model, &source, &settings);
    session_jvm(s, &tab->model.jvm);
    tab->screen = screen_new(&tab->model, o->view);
    if (!tab->screen) {
        free_tab(tab);
        return err_set(e, ENOMEM, "no memory for the screen");
    }
    t->tab[t->count] = tab;
    jvm_tabs_go(t, t->count++);
    return 0;
}

void jvm_tabs_close(struct jvm_tabs *t) {
    if (!t->count)
        return;
    free_tab(t->tab[t->on]);
    t->count--;
    for (int i = t->on; i < t->count; i++)
        t->tab[i] = t->tab[i + 1];
    if (t->count)
        jvm_tabs_go(t, t->on < t->count ? t->on : t->count - 1);
}

void jvm_tabs_close_all(struct jvm_tabs *t) {
    while (t->count)
        jvm_tabs_close(t);
}

struct jvm_tab *jvm_tabs_on(const struct jvm_tabs *t) {
    return t->count ? t->tab[t->on] : NULL;
}

static bool has_ended(const struct jvm_tab *tab) {
    return tab->model.status.phase == SESSION_JVM_GONE;
}

int jvm_tabs_find(const struct jvm_tabs *t, const struct jvm *j) {
    for (int i = 0; i < t->count; i++) {
        const struct jvm *open = &t->tab[i]->model.jvm;
        if (!t->tab[i]->replay && !has_ended(t->tab[i]) && open->pid == j->pid &&
            open->start_ticks == j->start_ticks)
            return i;
    }
    return -1;
}

void jvm_tabs_go(struct jvm_tabs *t, int index) {
    for (int i = 0; i < t->count; i++)
        t->tab[i]->model.hidden = i != index;
    t->on = index;
    t->tab[index]->refresh_ns = 0;
}

/* Gives the screen the list of open JVMs, if there are several, or if one is being recorded. */
static void tell(const struct jvm_tabs *t) {
    struct screen_tab line[JVM_TABS_MAX];
    char name[JVM_TABS_MAX][sizeof t->tab[0]->model.jvm.name + 32];
    bool recording = false;
    for (int i = 0; i < t->count; i++) {
        const struct jvm_tab *tab = t->tab[i];
        const struct jvm *j = &tab->model.jvm;
        snprintf(name[i], sizeof name[i], "%s %d%s", j->name, (int)j->pid,
                 tab->record[0] ? " REC" : "");
        line[i] = (struct screen_tab){.name = name[i], .on = i == t->on, .ended = has_ended(tab)};
        recording |= tab->record[0] != '\0';
    }
    if (t->count)
        screen_set_tabs(t->tab[t->on]->screen, line, t->count > 1 || recording ? t->count : 0);
}

uint64_t jvm_tabs_look(struct jvm_tabs *t, bool all, uint64_t now_ns) {
    uint64_t next = UINT64_MAX;
    for (int i = 0; i < t->count; i++) {
        struct jvm_tab *tab = t->tab[i];
        if ((i == t->on && !all) || tab->replay)
            continue;
        if (now_ns >= tab->refresh_ns) {
            if (!model_refresh(&tab->model, now_ns))
                screen_update(tab->screen);
            tab->refresh_ns = now_ns + HIDDEN_REFRESH_NS;
        }
        if (tab->refresh_ns < next)
            next = tab->refresh_ns;
    }
    tell(t);
    return next;
}

void jvm_tab_save(struct jvm_tab *t, time_t now) {
    char path[512];
    struct err e = {0};
    if (save_as(&t->model, screen_view(t->screen), screen_format(t->screen), now, path, sizeof path,
                &e))
        screen_say(t->screen, "not written: %s", e.message);
    else
        screen_say(t->screen, "written: %s", path);
}

void jvm_tab_save_stacks(struct jvm_tab *t, time_t now) {
    char path[512];
    struct err e = {0};
    size_t bytes;
    const char *text = screen_stacks_dump(t->screen, &bytes);
    if (save_text(&t->model, ".txt", text, bytes, now, path, sizeof path, &e))
        screen_say(t->screen, "not written: %s", e.message);
    else
        screen_say(t->screen, "written: %s", path);
}

/* Returns the file's name. The file is in the current directory, and a whole path may not fit into
 * the status row. */
static const char *file_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Starts a recording. If the name is taken, for example by another recording of the same second, it
 * gets a number. 0 or -errno. */
static int begin_recording(struct jvm_tab *t, time_t now, char *path, size_t size, struct err *e) {
    int err = -EEXIST;
    for (int i = 1; err == -EEXIST && i < 10; i++) {
        char ending[16] = ".jtop";
        if (i > 1)
            snprintf(ending, sizeof ending, "-%d.jtop", i);
        save_path(&t->model, ending, now, path, size);
        err = session_record(t->session, path, e);
    }
    return err;
}

void jvm_tab_record(struct jvm_tab *t, time_t now) {
    char path[sizeof t->record] = "";
    struct err e = {0};
    bool begin = !t->record[0];
    if (begin ? begin_recording(t, now, path, sizeof path, &e)
              : session_record(t->session, NULL, &e)) {
        screen_say(t->screen, "not recorded: %s", e.message);
        t->record[0] = '\0';
    } else if (begin) {
        memcpy(t->record, path, sizeof path);
        screen_say(t->screen, "recording from now on, R ends it: %s", file_of(path));
    } else {
        screen_say(t->screen, "recorded: %s", file_of(t->record));
        t->record[0] = '\0';
    }
}
