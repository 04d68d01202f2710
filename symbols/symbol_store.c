#include "symbols/symbol_store.h"

#include "core/base/clock.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->lost = true)
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <uthash.h>

#define PATIENCE_MS 5000 /* wait for another thread that reads the file */

/* Has no padding, because it is compared as bytes. */
struct file_key {
    uint64_t device, inode, size, mounts;
    int64_t changed_s, changed_ns, modified_s, modified_ns;
};

struct symbol_file {
    struct file_key key;
    unsigned users; /* protected by the store's lock */
    bool lost;      /* uthash had no memory to add it */
    bool read;      /* protected by `reading` */
    pthread_mutex_t reading;
    struct elf_symbols *elf;
    UT_hash_handle hh;
};

struct symbol_store {
    pthread_mutex_t lock;
    struct symbol_file *files;
    pthread_mutex_t kernel_lock;
    struct kallsyms kernel;
};

struct symbol_store *symbol_store_new(void) {
    struct symbol_store *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->kernel_lock, NULL);
    return s;
}

static void free_file(struct symbol_file *f) {
    elf_symbols_free(f->elf);
    pthread_mutex_destroy(&f->reading);
    free(f);
}

void symbol_store_free(struct symbol_store *s) {
    if (!s)
        return;
    kallsyms_free(&s->kernel);
    pthread_mutex_destroy(&s->kernel_lock);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static bool key_of(int fd, uint64_t mounts, struct file_key *key) {
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    *key = (struct file_key){.device = st.st_dev,
                             .inode = st.st_ino,
                             .size = (uint64_t)st.st_size,
                             .mounts = mounts,
                             .changed_s = st.st_ctim.tv_sec,
                             .changed_ns = st.st_ctim.tv_nsec,
                             .modified_s = st.st_mtim.tv_sec,
                             .modified_ns = st.st_mtim.tv_nsec};
    return true;
}

static struct symbol_file *add(struct symbol_store *s, const struct file_key *key) {
    struct symbol_file *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->key = *key;
    pthread_mutex_init(&f->reading, NULL);
    HASH_ADD(hh, s->files, key, sizeof f->key, f);
    if (!f->lost)
        return f;
    free_file(f);
    return NULL;
}

static struct symbol_file *find_or_add(struct symbol_store *s, const struct file_key *key) {
    struct symbol_file *f = NULL;
    pthread_mutex_lock(&s->lock);
    HASH_FIND(hh, s->files, key, sizeof *key, f);
    if (!f)
        f = add(s, key);
    if (f)
        f->users++;
    pthread_mutex_unlock(&s->lock);
    return f;
}

struct symbol_file *symbol_store_get(struct symbol_store *s, int fd, uint64_t mounts,
                                     struct elf_symbols *(*read)(void *arg), void *arg) {
    struct file_key key;
    struct symbol_file *f = key_of(fd, mounts, &key) ? find_or_add(s, &key) : NULL;
    if (!f)
        return NULL;
    /* If that clock jumps, one file is read twice. */
    struct timespec until = clock_after_ms(CLOCK_REALTIME, PATIENCE_MS);
    if (pthread_mutex_timedlock(&f->reading, &until) != 0) {
        symbol_store_put(s, f);
        return NULL;
    }
    if (!f->read)
        f->elf = read(arg);
    f->read = true;
    pthread_mutex_unlock(&f->reading);
    return f;
}

const struct elf_symbols *symbol_file_elf(const struct symbol_file *f) {
    return f->elf;
}

void symbol_store_put(struct symbol_store *s, struct symbol_file *f) {
    pthread_mutex_lock(&s->lock);
    bool last = --f->users == 0;
    if (last)
        HASH_DEL(s->files, f);
    pthread_mutex_unlock(&s->lock);
    if (last)
        free_file(f);
}

const struct kallsyms *symbol_store_kernel(struct symbol_store *s) {
    pthread_mutex_lock(&s->kernel_lock);
    kallsyms_read_once(&s->kernel, "/proc/kallsyms");
    pthread_mutex_unlock(&s->kernel_lock);
    return &s->kernel;
}

void symbol_store_kernel_again(struct symbol_store *s) {
    pthread_mutex_lock(&s->kernel_lock);
    kallsyms_read_again(&s->kernel, "/proc/kallsyms");
    pthread_mutex_unlock(&s->kernel_lock);
}
