/*
 * How a reader and an agent find each other.
 *
 *   attach  The reader makes the JVM load the agent with options "session=N,ring=BYTES" (N: a
 *           random non-zero number). Agent_OnAttach makes the mapping and returns an enum
 *           handshake_result; the agent's thread then waits for requests. The reader searches
 *           /proc/PID/fd for links to "/memfd:jtop-prof (deleted)" and takes the one whose header
 *           has its N, after it has checked size, seals and ABI. Where /proc/PID/fd is denied, the
 *           reader makes the sealed memfd itself and adds the option "map=/proc/READER/fd/F".
 *   start   -agentpath:…/libjtop-agent.so=start,event=cpu,interval=1ms,file=out.svg starts the
 *           engines without a reader. With file= the agent runs the frontend (beside the library,
 *           or frontend=PATH) as `jtop-prof --reader 3 --reader-pid PID OPTIONS…` with the memfd as
 *           descriptor 3. That process forks, so that the reader is no child of the JVM; the reader
 *           lives until the JVM is gone.
 *   leave   WIRE_COMMAND_DETACH, or no new heartbeat for as long as the lease.
 *
 * Context: constants.
 */
#ifndef JTOP_WIRE_HANDSHAKE_H
#define JTOP_WIRE_HANDSHAKE_H

/* What Agent_OnAttach returns. */
enum handshake_result {
    HANDSHAKE_OK = 0,
    HANDSHAKE_NO_MEMORY = 101,   /* memfd_create or mmap failed */
    HANDSHAKE_BUSY = 102,        /* the agent has another reader, which is alive */
    HANDSHAKE_UNSUPPORTED = 103, /* no gHotSpotVMStructs, and no AsyncGetCallTrace either */
    HANDSHAKE_OPTIONS = 104,     /* the option string is wrong */
    HANDSHAKE_NO_THREAD = 105,   /* the agent's thread could not be started */
    HANDSHAKE_SIGNAL = 106,      /* another library's SIGSEGV handler is in front of ours */
    HANDSHAKE_OTHER_COPY = 107,  /* another copy of the agent is active. Its reader may be gone: it
                                    then ends with the lease */
    HANDSHAKE_STARTING = 108,    /* the VM is still starting; a later try may succeed */
};

#define HANDSHAKE_READER_FD 3

#endif
