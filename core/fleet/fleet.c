#include "core/fleet/fleet.h"

#include <errno.h>
#include <stddef.h>

int fleet_new(const struct fleet_options *o, struct fleet **out, struct err *e) {
    (void)o;
    *out = NULL;
    return err_set(e, ENOSYS, "not written yet");
}
void fleet_free(struct fleet *f) {
    (void)f;
}
int fleet_jvms(struct fleet *f, struct jvm **out, struct err *e) {
    (void)f, (void)out;
    return err_set(e, ENOSYS, "not written yet");
}
int fleet_jvm(struct fleet *f, pid_t pid, struct jvm *out, struct err *e) {
    (void)f, (void)pid, (void)out;
    return err_set(e, ENOSYS, "not written yet");
}
int fleet_enter(struct fleet *f, pid_t pid, const struct fleet_want *want, struct fleet_user **out,
                struct err *e) {
    (void)f, (void)pid, (void)want, (void)out;
    return err_set(e, ENOSYS, "not written yet");
}
int fleet_rewant(struct fleet_user *u, const struct fleet_want *want, struct err *e) {
    (void)u, (void)want;
    return err_set(e, ENOSYS, "not written yet");
}
void fleet_leave(struct fleet_user *u) {
    (void)u;
}
struct session *fleet_session(const struct fleet_user *u) {
    (void)u;
    return NULL;
}
bool fleet_looks_on(const struct fleet_user *u) {
    (void)u;
    return false;
}
uint64_t fleet_since(const struct fleet_user *u) {
    (void)u;
    return 0;
}
uint32_t fleet_users(const struct fleet_user *u) {
    (void)u;
    return 0;
}
uint32_t fleet_held(struct fleet *f, pid_t *out, uint32_t max) {
    (void)f, (void)out, (void)max;
    return 0;
}
