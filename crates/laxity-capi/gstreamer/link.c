#include "link.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

struct LaxityLink {
    char *name;
    char *path;
    guint64 rate;
    guint users;
    lx_plan *plan;
    lx_udp_sink *sink;
    /* The sink sends by a duplicate. */
    int socket;
    /* Datagrams that the sink was given. */
    _Atomic guint64 accepted;
};

/* Links with names; the lock is held while one is opened or left. */
static GMutex lock;
static GHashTable *links;

static GQuark domain(void) {
    return g_quark_from_static_string("laxity");
}

gboolean laxity_ok(lx_status status, lx_error **failure, GError **error) {
    if (status >= 0) {
        return TRUE;
    }
    g_set_error_literal(error, domain(), status,
                        *failure != NULL ? lx_error_message(*failure) : lx_status_name(status));
    lx_error_free(*failure);
    *failure = NULL;
    return FALSE;
}

/* A socket for IPv6 and IPv4, or only IPv4 where the system has no other. */
static int socket_open(GError **error) {
    int both = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int off = 0;
    if (both >= 0) {
        setsockopt(both, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        return both;
    }
    both = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (both < 0) {
        g_set_error(error, domain(), LX_ERR_SOCKET, "no socket can be opened: %s",
                    g_strerror(errno));
    }
    return both;
}

static void link_free(LaxityLink *link) {
    lx_udp_sink_free(link->sink);
    if (link->socket >= 0) {
        close(link->socket);
    }
    lx_plan_free(link->plan);
    g_free(link->name);
    g_free(link->path);
    g_free(link);
}

static LaxityLink *link_start(const char *name, const char *path, guint64 rate, GError **error) {
    LaxityLink *link = g_new0(LaxityLink, 1);
    lx_udp_settings settings = LX_INIT(lx_udp_settings);
    lx_error *failure = NULL;
    link->name = g_strdup(name);
    link->path = g_strdup(path);
    link->rate = rate;
    link->users = 1;
    link->socket = socket_open(error);
    settings.bits_per_second = rate;
    settings.sockets = &link->socket;
    settings.socket_count = 1;
    if (link->socket < 0 ||
        (path != NULL && !laxity_ok(lx_plan_read(path, &link->plan, &failure), &failure, error)) ||
        !laxity_ok(lx_udp_sink_start(link->plan, 0, &settings, &link->sink, &failure), &failure,
                   error)) {
        link_free(link);
        return NULL;
    }
    return link;
}

LaxityLink *laxity_link_open(const char *name, const char *plan, guint64 rate, GError **error) {
    LaxityLink *link;
    if (name == NULL) {
        return link_start(NULL, plan, rate, error);
    }
    g_mutex_lock(&lock);
    if (links == NULL) {
        links = g_hash_table_new(g_str_hash, g_str_equal);
    }
    link = g_hash_table_lookup(links, name);
    if (link == NULL) {
        link = link_start(name, plan, rate, error);
        if (link != NULL) {
            g_hash_table_insert(links, link->name, link);
        }
    } else if (link->rate != rate || g_strcmp0(link->path, plan) != 0) {
        g_set_error(error, domain(), LX_ERR_ARGUMENT,
                    "link \"%s\" has rate %" G_GUINT64_FORMAT " and plan \"%s\": elements that "
                    "share it have the same", name, link->rate, link->path ? link->path : "");
        link = NULL;
    } else {
        link->users++;
    }
    g_mutex_unlock(&lock);
    return link;
}

/* The sink has no call that drops what waits, and under a plan it may wait for minutes. Its socket
 * is shut instead: its thread ends by itself, and nothing it still takes out is sent. */
static void sink_silence(LaxityLink *link) {
    /* ENOTCONN is no failure: Linux shuts sockets that are not connected, too. */
    shutdown(link->socket, SHUT_WR);
    lx_udp_sink_set_rate(link->sink, 0, NULL);
}

void laxity_link_close(LaxityLink *link) {
    gboolean is_last;
    g_mutex_lock(&lock);
    is_last = --link->users == 0;
    if (is_last) {
        sink_silence(link);
        if (link->name != NULL) {
            g_hash_table_remove(links, link->name);
        }
    }
    g_mutex_unlock(&lock);
    if (is_last) {
        link_free(link);
    }
}

lx_udp_sink *laxity_link_sink(const LaxityLink *link) {
    return link->sink;
}

gboolean laxity_link_terms(const LaxityLink *link, guint64 deadline, guint64 expiry,
                           GError **error) {
    if (link->plan == NULL || (deadline == 0 && expiry == 0)) {
        return TRUE;
    }
    g_set_error_literal(error, domain(), LX_ERR_ARGUMENT,
                        "`deadline` and `expiry` have no effect under a plan, which orders by "
                        "classes: leave them out, or `plan`");
    return FALSE;
}

gboolean laxity_link_class(const LaxityLink *link, const char *name, guint32 *number,
                           GError **error) {
    if (name == NULL) {
        name = "";
    }
    *number = 0;
    if (link->plan == NULL && *name != 0) {
        g_set_error(error, domain(), LX_ERR_ARGUMENT,
                    "class \"%s\" is of no plan: set `plan` too, or leave `class` out", name);
        return FALSE;
    }
    if (link->plan != NULL && lx_plan_class(link->plan, name, number, NULL) != LX_OK) {
        g_set_error(error, domain(), LX_ERR_ARGUMENT,
                    "class \"%s\" is not in %s: set `class` to the name of one that is", name,
                    link->path);
        return FALSE;
    }
    return TRUE;
}

gboolean laxity_link_send(LaxityLink *link, lx_udp_producer *producer,
                          const lx_udp_datagram *datagram, GError **error) {
    lx_error *failure = NULL;
    /* A stream that is live waits for nobody. */
    lx_status status = lx_udp_send(producer, datagram, LX_SEND_DROP, &failure);
    link->accepted += status == LX_OK;
    return laxity_ok(status, &failure, error);
}

gboolean laxity_link_is_busy(LaxityLink *link) {
    lx_udp_statistics counts = LX_INIT(lx_udp_statistics);
    return lx_udp_sink_statistics(link->sink, &counts, NULL) == LX_OK &&
           link->accepted > counts.sent + counts.lost + counts.dropped;
}

gboolean laxity_address(const char *host, guint port, struct sockaddr_storage *address,
                        socklen_t *length, GError **error) {
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char *service = g_strdup_printf("%u", port);
    int status = getaddrinfo(host, service, &hints, &found);
    g_free(service);
    if (status != 0) {
        g_set_error(error, domain(), status, "host \"%s\": %s", host, gai_strerror(status));
        return FALSE;
    }
    memcpy(address, found->ai_addr, found->ai_addrlen);
    *length = found->ai_addrlen;
    freeaddrinfo(found);
    return TRUE;
}
