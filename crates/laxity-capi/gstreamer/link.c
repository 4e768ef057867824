#include "link.h"

#include <string.h>

struct LaxityLink {
    char *name;
    char *path;
    guint64 rate;
    guint users;
    lx_plan *plan;
    lx_udp_sink *sink;
};

/* Links with names; the lock is held while one is opened or left. */
static GMutex lock;
static GHashTable *links;

gboolean laxity_ok(lx_status status, lx_error **failure, GError **error) {
    if (status >= 0) {
        return TRUE;
    }
    g_set_error_literal(error, g_quark_from_static_string("laxity"), status,
                        *failure != NULL ? lx_error_message(*failure) : lx_status_name(status));
    lx_error_free(*failure);
    *failure = NULL;
    return FALSE;
}

static void link_free(LaxityLink *link) {
    lx_udp_sink_free(link->sink);
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
    settings.bits_per_second = rate;
    if ((path != NULL && !laxity_ok(lx_plan_read(path, &link->plan, &failure), &failure, error)) ||
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
        g_set_error(error, g_quark_from_static_string("laxity"), LX_ERR_ARGUMENT,
                    "link \"%s\" has rate %" G_GUINT64_FORMAT " and plan \"%s\": elements that "
                    "share it have the same", name, link->rate, link->path ? link->path : "");
        link = NULL;
    } else {
        link->users++;
    }
    g_mutex_unlock(&lock);
    return link;
}

void laxity_link_close(LaxityLink *link) {
    gboolean is_last;
    g_mutex_lock(&lock);
    is_last = --link->users == 0;
    if (is_last && link->name != NULL) {
        g_hash_table_remove(links, link->name);
    }
    g_mutex_unlock(&lock);
    if (is_last) {
        lx_udp_sink_shutdown(link->sink, NULL, NULL);
        link_free(link);
    }
}

lx_udp_sink *laxity_link_sink(const LaxityLink *link) {
    return link->sink;
}

const lx_plan *laxity_link_plan(const LaxityLink *link) {
    return link->plan;
}
