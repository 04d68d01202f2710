/*
 * Files:
 *   api           handlers of /api/v1: JVMs, views, server-sent events, status
 *   api_feeds     live views made once a second, shared by streams that ask the same
 *   api_findings  handler of what stands out in a profile
 *   api_jvms      a JVM, its session's status and its events as JSON
 *   api_lines     handler of the samples of each source line of a method
 *   api_locks     waits for locks, their owners and waiters as JSON
 *   api_metrics   handler of /metrics, for Prometheus
 *   api_names     names of the methods in one view, made unique
 *   api_question  parser of a view's URL parameters into a query
 *   api_sources   source text beside a method's lines, as JSON
 *   api_tree      call tree as JSON, limited to the largest nodes
 *   api_view      one view of a profile: taken under the lock, then written as JSON
 *   json          JSON writer that sets the commas itself
 *
 * The JSON of /api/v1, and of the events that /live follows.
 *
 *   GET /api/v1/jvms                  [{pid, name, version, user, uptimeMs, cpuPercent, rssBytes,
 *                                     threads, held, reader, closed}…]
 *   GET /api/v1/jvms/PID              {jvm, status, events} of a session that exists; otherwise
 *                                     status is null. Does not attach.
 *   GET /api/v1/jvms/PID/view?…       a view, see below. Attaches, and stays attached for some
 *                                     seconds after the last request (fleet_options.linger_ms).
 *                                     If other users want other events of the JVM meanwhile, an
 *                                     event that only this request wants is sampled while the
 *                                     request is answered, and no longer; a client that wants it
 *                                     for longer follows its events, too.
 *   GET /api/v1/jvms/PID/events?…     the same once a second as server-sent events: "event: view",
 *                                     "id:" the latest second; "event: trouble" with {message} if
 *                                     it cannot go on, "event: gone" with {message} when the JVM
 *                                     has ended (after one last view). The stream ends then.
 *   GET /api/v1/jvms/PID/lines?method=NAME&…   {method, total: {weight, samples},
 *                                     lines: [{line, self, total, samples}…]}; NAME as a view
 *                                     writes it; overloads are added up; 404 if no such method was
 *                                     seen. total: of everything in this query, so shares of it are
 *                                     right. With source=1 also "source": {origin, lines, context,
 *                                     rows: [{line, text} or {line, hidden}…], cut}, the source
 *                                     around lines with samples (`context` lines each, 4; fewer if
 *                                     there would be more than 1000 rows). hidden: number of lines
 *                                     left out from `line` on. cut: lines with few samples are
 *                                     hidden, too, because even without context they do not fit.
 *                                     source is null if there is none; then "reason" is
 *                                     "not found", or "busy" (the server could not search now)
 *   GET /api/v1/jvms/PID/findings?…   {event, findings: [{text, worse, method, thread, view, event}…]}:
 *                                     what stands out, for the same parameters as a view. worse: a
 *                                     problem. What it is about, or null: `method`, a name for
 *                                     with= (under wall, of the samples of `event`); `thread`,
 *                                     {name, tid, javaId, virtual}; `view`: locks, alloc or status
 *                                     has more about it
 *   GET /api/v1/status                {version, uptimeMs, jvms, sessions, clients}; clients: views,
 *                                     streams and profiles that are in progress
 *
 * Parameters of view and events: event=NAME (cpu), interval=, from= and to= (seconds of the
 * samples' clock, as in `window`, both inclusive; negative: before the latest; not given:
 * everything), before=FROM-TO (seconds to compare with: adds "before", and changes of the shares to
 * rows and nodes), filter= (a regular expression), thread=TID, virtual=ID, with=NAME (only stacks
 * with this method, as a view writes it; the tree begins at its outermost frame), tree=0|1 (1),
 * inverted (with `with`: the method's callers), sites (for event=alloc: the tree has the classes of
 * the objects, below a class the methods outside the JDK that allocate them, and their callers; a
 * node ends with the method of the JDK that it calls, an index in names, or null), locks (adds "locks"; they are sampled with
 * event=lock), rows= (100), nodes= (20000). A wrong or unknown parameter is a 400 that names it, in one line of
 * text.
 *
 * A view:
 *   {"jvm":{"pid","name","version","user","uptimeMs","cpuPercent","rssBytes","threads",
 *           "heapUsedBytes","heapMaxBytes"},
 *    "status":{"phase":"running|stopped|gone|failed","message","elapsedMs","samples","dropped",
 *              "failures":{reason: stacks},"failed","agentCpuMs","overheadPercent",
 *              "lookingOn":PID|0,"walker","budget","frontendCpuMs","missedMs"},
 *    "events":[{"name","unit","asked","runs","biased","samples","dropped","interval","mechanism",
 *               "reason"}…],
 *    "event":"cpu","unit":"ns",
 *    "window":{"from","to","first","oldest","latest","all","unix"},
 *    "total":{"weight","samples","failed"}, with "filterGaveUp":true if the filter takes too long
 *    for some names; these count as if they did not match,
 *    "before":{"from","to","weight","samples"},
 *    "methods":[{"name","kind","tier","self","total","selfSamples","totalSamples"}…],"methodCount",
 *    "threads":[{"name","tid","javaId","virtual","ended","weight","samples","states":{…},"top"}…],
 *    "threadCount",
 *    "tree":{"names":[…],"kinds":[…],"nodes":[[name,depth,total,self,samples,tier]…],"cut":false},
 *    "locks":{"from","sampledNs","classes":[{"name","kind","waits","waitedNs","longestNs","locks",
 *        "waiters","owners":[{"id","name","tid","waits","waitedNs","longestNs","stack":[…]}…],
 *        "links":[{"owner","lock","name","tid","waits","waitedNs","deadlockNs"}…]}…]},
 *    "timeline":{"from","weight":[…],"samples":[…],"gcMs":[…],"otherMs":[…]}}
 * window: `first` is the first second of the whole profile, `oldest` the first of what is kept by
 * the second; `latest` advances even while the JVM idles; `all`: neither from nor to was given;
 * `unix` is the time of day of second 0 of the samples' clock. All are 0 before the first sample.
 * `name` of a node is its index in names and kinds; nodes are in preorder, only the largest ones if
 * too many (`cut`). Within a view a name means one method: overloads have their signature, too.
 * With before= a method has "selfChange" and "totalChange", and a thread "change": {"points" (of
 * percent), "chance" (chance explains it, or there are too few samples), "new"}. A node has four
 * more numbers: its share before in percent, the change in points, flags (1: chance, 2: new), and a
 * shade from 0, much less, to 8, much more; 4: no more than chance.
 * locks: kind "monitor", "lock" or "shared"; an owner held a lock of the class while threads waited,
 * a row for each of its stacks, leaf first; a link names a thread that waited for owner `owner` (an
 * id of this view, null: not known), or if `lock` is not null, the owner of a lock that the owner
 * itself waited for meanwhile. `from`: waits before this second are no longer known; 0: all are.
 * kind: "java", "native", "cpp", "kernel", "class", "stub", "error", "thread", "compiling"; tier: 0
 * none, 1 interpreted, 2 C1, 3 C2, 4 inlined. The timeline ends at `latest` and has at most 600
 * seconds; gcMs: how long the VM was stopped for a collection; otherMs: for another reason.
 *
 * Context: as core/http/serve/server/route.h.
 */
#ifndef JTOP_HTTP_SERVE_API_API_H
#define JTOP_HTTP_SERVE_API_API_H

#include "core/http/serve/api/api_question.h"
#include "core/http/serve/server/route.h"

/* Reads the parameters of a view, and becomes a user of the JVM. 0, or -errno and the answer is
 * filled. */
int api_enter(struct serve *s, const struct serve_request *q, pid_t pid, struct api_question *out,
              struct fleet_user **user, struct serve_answer *a);
/* Marks the body as JSON; if memory ran out, answers that instead. */
void api_finish(struct serve_answer *a, int result);

/* "/api/v1/jvms/PID/lines" (api_lines.c). */
void api_lines(struct serve *s, const struct serve_request *q, pid_t pid, struct serve_answer *a);

#endif
