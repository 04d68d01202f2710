/*
 * Finds how much of a compiled method's frame is set up where the method was interrupted, from the
 * instructions around that place (source: MacroAssembler::build_frame, remove_frame and
 * verified_entry, C1_MacroAssembler, x86.ad, aarch64.ad, JDK 8-28).
 *
 * Context: pure. The functions for both architectures are always compiled, so that both are tested
 * everywhere.
 */
#ifndef JTOP_AGENT_WALK_WALK_STAGE_H
#define JTOP_AGENT_WALK_WALK_STAGE_H

#include <stdbool.h>
#include <stdint.h>

enum frame_stage {
    STAGE_WHOLE = 0, /* the return address is the frame's last word, the caller's fp before it */
    STAGE_NONE,      /* return address at sp, or in the link register; fp is the caller's */
    STAGE_PUSHED,    /* the caller's fp is at sp, the return address above it */
    STAGE_ALLOCATED, /* sp is the frame's; the rest is in registers (aarch64 only) */
};

#define STAGE_BYTES_BEFORE 96u
#define STAGE_BYTES_BEHIND 48u

/* A piece of the method's code; bytes that could not be read are 0. */
struct stage_code {
    uint8_t byte[STAGE_BYTES_BEFORE + STAGE_BYTES_BEHIND];
    uint32_t pc;   /* index of the interrupted instruction */
    bool prologue; /* at pc, the frame is not complete yet; byte[0] is in the method */
};

enum frame_stage stage_x86_64(const struct stage_code *c);
enum frame_stage stage_aarch64(const struct stage_code *c);

#endif
