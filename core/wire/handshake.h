/*
 * How a reader and an agent find each other.
 *
 *   attach  The reader makes the JVM load the agent with options "session=N,ring=BYTES" (N: a
 *           random non-zero number). Agent_OnAttach makes the mapping, returns an enum
 *           handshake_result, and its thread waits for requests. The reader looks through
 *           /proc/PID/fd for links to "/memfd:jtop-prof (deleted)" and takes the one whose header
 *           has its N, after checking size, seals and ABI. Where /proc/PID/fd is denied the
 *           reader makes the sealed memfd itself and says "map=/proc/READER/fd/F" as well.
 *   start   -agentpath:…/libjtop-agent.so=start,event=cpu,interval=1ms,file=out.svg starts the
 *           engines by itself; with file= the agent runs the frontend (beside the library, or
 *           frontend=PATH) as `jtop-prof --reader 3 --reader-pid PID OPTIONS…` with the memfd as
 *           descriptor 3; that process leaves the JVM's family by a second fork and lives until
 *           the JVM is gone.
 *   leave   WIRE_COMMAND_DETACH, or a heartbeat that stands still for the lease.
 *
 * Context: constants.
 */
#ifndef JTOP_WIRE_HANDSHAKE_H
#define JTOP_WIRE_HANDSHAKE_H

/* What Agent_OnAttach returns. */
enum handshake_result {
    HANDSHAKE_OK = 0,
    HANDSHAKE_NO_MEMORY = 101,   /* memfd_create or mmap failed */
    HANDSHAKE_BUSY = 102,        /* another reader holds the agent and its heart beats */
    HANDSHAKE_UNSUPPORTED = 103, /* no gHotSpotVMStructs, and no AsyncGetCallTrace either */
    HANDSHAKE_OPTIONS = 104,     /* the option string is wrong */
    HANDSHAKE_NO_THREAD = 105,   /* the agent's thread could not be started */
    HANDSHAKE_SIGNAL = 106,      /* another library's SIGSEGV handler stands in front of ours */
    HANDSHAKE_OTHER_COPY = 107,  /* another copy of the agent is at work, if perhaps for a reader
                                    that is gone: until its lease is out */
    HANDSHAKE_STARTING = 108,    /* the VM itself is not ready yet; soon it will be */
};

#define HANDSHAKE_READER_FD 3

#endif
