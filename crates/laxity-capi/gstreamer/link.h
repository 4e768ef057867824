/* Paced links, which elements of a process share by their names. */
#ifndef LAXITY_LINK_H
#define LAXITY_LINK_H

#include <glib.h>
#include <laxity.h>
#include <sys/socket.h>

typedef struct LaxityLink LaxityLink;

/* The link of a name, which is started if there is none; with NULL as the name a link of one's own.
 * `plan` is the path of a plan, or NULL; a rate of 0 is that of the plan, or none. Returns NULL
 * with an error if the link cannot be started, or has another plan or rate. */
LaxityLink *laxity_link_open(const char *name, const char *plan, guint64 rate, GError **error);

/* Leaves a link. When the last one leaves, what still waits is never sent. It does not block. */
void laxity_link_close(LaxityLink *link);

lx_udp_sink *laxity_link_sink(const LaxityLink *link);

/* Whether a deadline and an expiry fit the link: under a plan both are 0. */
gboolean laxity_link_terms(const LaxityLink *link, guint64 deadline, guint64 expiry,
                           GError **error);

/* The number of a class of the link's plan. Without a plan the name is NULL or empty. */
gboolean laxity_link_class(const LaxityLink *link, const char *name, guint32 *number,
                           GError **error);

/* Sends a datagram; one that finds no room is dropped, and counted. */
gboolean laxity_link_send(LaxityLink *link, lx_udp_producer *producer,
                          const lx_udp_datagram *datagram, GError **error);

/* Whether datagrams of any of its elements are still to be sent. */
gboolean laxity_link_is_busy(LaxityLink *link);

/* Finds the address of a host, which may block. */
gboolean laxity_address(const char *host, guint port, struct sockaddr_storage *address,
                        socklen_t *length, GError **error);

/* Whether a call went well; if not, what it has written to `failure` goes to `error`. */
gboolean laxity_ok(lx_status status, lx_error **failure, GError **error);

#endif
