/*
 * The instructions of frame programs, with DWARF's names and numbers, and their operands.
 * Source: DWARF 5, 7.24 and 7.7.1; GNU's, MIPS's and Arm's additions: binutils.
 *
 * Context: constants.
 */
#ifndef JTOP_SYMBOLS_UNWIND_UNWIND_OPCODES_H
#define JTOP_SYMBOLS_UNWIND_UNWIND_OPCODES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* these have an operand in their low six bits */
    DW_CFA_advance_loc = 0x40,
    DW_CFA_offset = 0x80,
    DW_CFA_restore = 0xc0,
    DW_CFA_nop = 0x00,
    DW_CFA_set_loc,
    DW_CFA_advance_loc1,
    DW_CFA_advance_loc2,
    DW_CFA_advance_loc4,
    DW_CFA_offset_extended,
    DW_CFA_restore_extended,
    DW_CFA_undefined,
    DW_CFA_same_value,
    DW_CFA_register,
    DW_CFA_remember_state,
    DW_CFA_restore_state,
    DW_CFA_def_cfa,
    DW_CFA_def_cfa_register,
    DW_CFA_def_cfa_offset,
    DW_CFA_def_cfa_expression,
    DW_CFA_expression,
    DW_CFA_offset_extended_sf,
    DW_CFA_def_cfa_sf,
    DW_CFA_def_cfa_offset_sf,
    DW_CFA_val_offset,
    DW_CFA_val_offset_sf,
    DW_CFA_val_expression,
    DW_CFA_MIPS_advance_loc8 = 0x1d,
    DW_CFA_AARCH64_negate_ra_state_with_pc = 0x2c,
    DW_CFA_AARCH64_negate_ra_state = 0x2d, /* from here on, return addresses are signed, or not */
    DW_CFA_GNU_args_size = 0x2e,
    DW_CFA_GNU_negative_offset_extended = 0x2f,
    UNWIND_OPCODES = 0x40
};

enum {
    DW_OP_deref = 0x06,
    DW_OP_lit0 = 0x30,
    DW_OP_breg0 = 0x70,
};

enum unwind_operand {
    UNWIND_NOTHING,
    UNWIND_ULEB,
    UNWIND_SLEB,
    UNWIND_BLOCK, /* its length, then an expression */
    UNWIND_ADDRESS,
    UNWIND_BYTE1, /* numbers of 1, 2, 4, 8 bytes */
    UNWIND_BYTE2,
    UNWIND_BYTE4,
    UNWIND_BYTE8,
};

struct unwind_opcode {
    bool known;
    uint8_t first, second; /* enum unwind_operand */
};

#endif
