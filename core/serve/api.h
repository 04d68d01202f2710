/*
 * The JSON of /api/v1, and of the events that /live follows.
 *
 *   GET /api/v1/jvms                  [{pid, name, version, user, uptimeMs, cpuPercent, rssBytes,
 *                                     threads, held, reader, closed}…]
 *   GET /api/v1/jvms/PID              {jvm, status, events}: of a session that is there; else status
 *                                     null. Does not attach.
 *   GET /api/v1/jvms/PID/view?…       a view, see below. Attaches, and stays attached for some
 *                                     seconds after the last question (fleet_options.linger_ms).
 *   GET /api/v1/jvms/PID/events?…     the same once a second as server-sent events, "event: view";
 *                                     "event: trouble" with {message} where it cannot go on, "event:
 *                                     gone" as the JVM has ended (one last view came before it).
 *   GET /api/v1/jvms/PID/lines?method=NAME&…   {method, lines: [{line, self, total, samples}…]}
 *   GET /api/v1/status                {version, uptimeMs, jvms, sessions, clients}
 *
 * Parameters of view and events: event=NAME (cpu), interval=, from= and to= (seconds of the samples'
 * clock, as in `window`; negative: before the latest; left out: everything), filter= (a regular
 * expression), thread=TID, virtual=ID, tree=0|1 (1), inverted, rows= (100), nodes= (20000).
 *
 * A view:
 *   {"jvm":{"pid","name","version","user","uptimeMs","cpuPercent","rssBytes","heapUsedBytes",
 *           "heapMaxBytes","threads"},
 *    "status":{"phase":"running|stopped|gone|failed","message","elapsedMs","samples","dropped",
 *              "failed","agentCpuMs","overheadPercent","lookingOn":PID|0,"walker","budget"},
 *    "events":[{"name","unit","asked","runs","biased","samples","dropped","interval","mechanism",
 *               "reason"}…],
 *    "event":"cpu","unit":"ns",
 *    "window":{"from","to","oldest","latest"},
 *    "total":{"weight","samples","failed"},
 *    "methods":[{"name","kind","tier","self","total","selfSamples","totalSamples"}…],"methodCount",
 *    "threads":[{"name","tid","javaId","virtual","ended","weight","samples","states":{…},"top"}…],
 *    "threadCount",
 *    "tree":{"names":[…],"kinds":[…],"nodes":[[name,depth,total,self,samples,tier]…],"cut":false},
 *    "timeline":{"from","weight":[…],"samples":[…],"gcMs":[…]}}
 * `name` of a node is the index in names and kinds; nodes are in preorder. kind: "java", "native",
 * "cpp", "kernel", "class", "thread", "error"; tier: 0 none, 1 interpreted, 2 C1, 3 C2, 4 inlined.
 *
 * Context: as core/serve/route.h.
 */
#ifndef JTOP_SERVE_API_H
#define JTOP_SERVE_API_H

#include "core/serve/route.h"

#endif
