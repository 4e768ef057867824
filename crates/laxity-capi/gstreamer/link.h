/* Paced links, which elements of a process share by their names. */
#ifndef LAXITY_LINK_H
#define LAXITY_LINK_H

#include <glib.h>
#include <laxity.h>

typedef struct LaxityLink LaxityLink;

/* The link of a name, which is started if there is none; with NULL as the name a link of one's own.
 * `plan` is the path of a plan, or NULL; a rate of 0 is that of the plan, or none. Returns NULL
 * with an error if the link cannot be started, or has another plan or rate. */
LaxityLink *laxity_link_open(const char *name, const char *plan, guint64 rate, GError **error);

/* Leaves a link; the last one to leave waits until everything is sent. */
void laxity_link_close(LaxityLink *link);

lx_udp_sink *laxity_link_sink(const LaxityLink *link);

/* NULL if the link has none. */
const lx_plan *laxity_link_plan(const LaxityLink *link);

/* Whether a call went well; if not, what it has written to `failure` goes to `error`. */
gboolean laxity_ok(lx_status status, lx_error **failure, GError **error);

#endif
