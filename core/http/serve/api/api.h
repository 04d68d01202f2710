/*
 * Files:
 *   api           handlers of /api/v1: JVMs, views, server-sent events, status
 *   api_feeds     live views made once a second, shared by streams that ask the same
 *   api_jvms      a JVM, its session's status and its events as JSON
 *   api_lines     handler of the samples of each source line of a method
 *   api_metrics   handler of /metrics, for Prometheus
 *   api_names     names of the methods in one view, made unique
 *   api_question  parser of a view's URL parameters into a query
 *   api_tree      call tree as JSON, limited to the largest nodes
 *   api_view      one view of a profile: taken under the lock, then written as JSON
 *   json          JSON writer that sets the commas itself
 *
 * The JSON of /api/v1, and of the events that /live follows.
 *
 *   GET /api/v1/jvms                  [{pid, name, version, user, uptimeMs, cpuPercent, rssBytes,
 *                                     threads, held, reader, closed}…]
 *   GET /api/v1/jvms/PID              {jvm, status, events}: of a session that is there; else status
 *                                     null. Does not attach.
 *   GET /api/v1/jvms/PID/view?…       a view, see below. Attaches, and stays attached for some
 *                                     seconds after the last question (fleet_options.linger_ms).
 *                                     Where others want other events of the JVM meanwhile, one that
 *                                     only this question wants is sampled while it is answered, and
 *                                     no longer: who wants it follows it, too.
 *   GET /api/v1/jvms/PID/events?…     the same once a second as server-sent events, "event: view",
 *                                     "id:" the latest second; "event: trouble" with {message} where
 *                                     it cannot go on, "event: gone" with {message} as the JVM has
 *                                     ended (one last view came before it). The stream ends then.
 *   GET /api/v1/jvms/PID/lines?method=NAME&…   {method, lines: [{line, self, total, samples}…]};
 *                                     NAME as a view writes it; of overloads, all of them; 404 where
 *                                     no such method was seen
 *   GET /api/v1/status                {version, uptimeMs, jvms, sessions, clients}; clients: views,
 *                                     streams and profiles that go on
 *
 * Parameters of view and events: event=NAME (cpu), interval=, from= and to= (seconds of the samples'
 * clock, as in `window`, both inclusive; negative: before the latest; left out: everything), filter=
 * (a regular expression), thread=TID, virtual=ID, tree=0|1 (1), inverted, rows= (100), nodes=
 * (20000). What is wrong is a 400 that names it, in one line of text; so is a parameter that nobody
 * knows.
 *
 * A view:
 *   {"jvm":{"pid","name","version","user","uptimeMs","cpuPercent","rssBytes","threads",
 *           "heapUsedBytes","heapMaxBytes"},
 *    "status":{"phase":"running|stopped|gone|failed","message","elapsedMs","samples","dropped",
 *              "failures":{reason: stacks},"failed","agentCpuMs","overheadPercent",
 *              "lookingOn":PID|0,"walker","budget"},
 *    "events":[{"name","unit","asked","runs","biased","samples","dropped","interval","mechanism",
 *               "reason"}…],
 *    "event":"cpu","unit":"ns",
 *    "window":{"from","to","first","oldest","latest","all","unix"},
 *    "total":{"weight","samples","failed"}, with "filterGaveUp":true where the filter takes too long
 *    with some names, which count as if it did not fit,
 *    "methods":[{"name","kind","tier","self","total","selfSamples","totalSamples"}…],"methodCount",
 *    "threads":[{"name","tid","javaId","virtual","ended","weight","samples","states":{…},"top"}…],
 *    "threadCount",
 *    "tree":{"names":[…],"kinds":[…],"nodes":[[name,depth,total,self,samples,tier]…],"cut":false},
 *    "timeline":{"from","weight":[…],"samples":[…],"gcMs":[…],"otherMs":[…]}}
 * window: `first` of the whole profile, `oldest` of what is kept a second at a time, `latest` goes on
 * while the JVM idles; `all`: neither from nor to was asked for; `unix` is the time of day of the
 * samples' clock's second 0. All 0 before the first sample.
 * `name` of a node is the index in names and kinds; nodes are in preorder, the largest where there
 * are too many (`cut`). Within a view a name is one method: of overloads there is the signature, too.
 * kind: "java", "native", "cpp", "kernel", "class", "stub", "error", "thread", "compiling"; tier: 0
 * none, 1 interpreted, 2 C1, 3 C2, 4 inlined. The timeline ends at `latest`, at most 600 seconds;
 * gcMs: the VM stood still for a collection; otherMs: for something else.
 *
 * Context: as core/http/serve/server/route.h.
 */
#ifndef JTOP_HTTP_SERVE_API_API_H
#define JTOP_HTTP_SERVE_API_API_H

#include "core/http/serve/api/api_question.h"
#include "core/http/serve/server/route.h"

/* The same, and becomes a user of the JVM. 0, or -errno and the answer is filled. */
int api_enter(struct serve *s, const struct serve_request *q, pid_t pid, struct api_question *out,
              struct fleet_user **user, struct serve_answer *a);
/* Says that the body is JSON; where memory ran out, that. */
void api_finish(struct serve_answer *a, int result);

/* "/api/v1/jvms/PID/lines" (api_lines.c). */
void api_lines(struct serve *s, const struct serve_request *q, pid_t pid, struct serve_answer *a);

#endif
