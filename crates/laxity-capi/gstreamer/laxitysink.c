/* A sink for GStreamer that sends buffers as datagrams, paced by liblaxity:
 *   ... ! rtpopuspay ! laxitysink host=192.0.2.7 port=5004 rate=2000000 deadline=20000000 */
#include <gst/base/gstbasesink.h>
#include <gst/gst.h>
#include <sys/socket.h>

#include "link.h"

#define PACKAGE "laxity"

#define LAXITY_TYPE_SINK (laxity_sink_get_type())
G_DECLARE_FINAL_TYPE(LaxitySink, laxity_sink, LAXITY, SINK, GstBaseSink)

struct _LaxitySink {
    GstBaseSink parent;
    /* Properties, under the object's lock. */
    char *host;
    char *link_name;
    char *plan;
    char *class_name;
    guint port;
    guint flow;
    guint dscp;
    guint64 rate;
    guint64 deadline;
    guint64 expiry;
    /* While it is started. */
    LaxityLink *link;
    lx_udp_producer *producer;
    struct sockaddr_storage to;
    socklen_t to_length;
    guint32 class_id;
    /* Whether what waits is to return. */
    gint is_interrupted;
};

G_DEFINE_TYPE(LaxitySink, laxity_sink, GST_TYPE_BASE_SINK)

enum {
    HOST = 1,
    PORT,
    LINK,
    RATE,
    PLAN,
    CLASS,
    FLOW,
    DSCP,
    DEADLINE,
    EXPIRY,
    STATS,
};

static GstStaticPadTemplate template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* Counts of the link, which elements share; NULL while it is not started. */
static GstStructure *stats(const LaxitySink *sink) {
    lx_udp_statistics of = LX_INIT(lx_udp_statistics);
    if (sink->link == NULL ||
        lx_udp_sink_statistics(laxity_link_sink(sink->link), &of, NULL) != LX_OK) {
        return NULL;
    }
    return gst_structure_new("laxity-stats", "received", G_TYPE_UINT64, of.received, "sent",
                             G_TYPE_UINT64, of.sent, "bytes-sent", G_TYPE_UINT64, of.bytes_sent,
                             "dropped", G_TYPE_UINT64, of.dropped + of.ring_dropped, "lost",
                             G_TYPE_UINT64, of.lost, "queued", G_TYPE_UINT64, of.queued, NULL);
}

static void replace(char **text, const GValue *value) {
    g_free(*text);
    *text = g_value_dup_string(value);
}

static void set_property(GObject *object, guint number, const GValue *value, GParamSpec *spec) {
    LaxitySink *sink = LAXITY_SINK(object);
    GST_OBJECT_LOCK(sink);
    switch (number) {
    case HOST:
        replace(&sink->host, value);
        break;
    case PORT:
        sink->port = g_value_get_uint(value);
        break;
    case LINK:
        replace(&sink->link_name, value);
        break;
    case RATE:
        sink->rate = g_value_get_uint64(value);
        break;
    case PLAN:
        replace(&sink->plan, value);
        break;
    case CLASS:
        replace(&sink->class_name, value);
        break;
    case FLOW:
        sink->flow = g_value_get_uint(value);
        break;
    case DSCP:
        sink->dscp = g_value_get_uint(value);
        break;
    case DEADLINE:
        sink->deadline = g_value_get_uint64(value);
        break;
    case EXPIRY:
        sink->expiry = g_value_get_uint64(value);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, number, spec);
    }
    GST_OBJECT_UNLOCK(sink);
}

static void get_property(GObject *object, guint number, GValue *value, GParamSpec *spec) {
    LaxitySink *sink = LAXITY_SINK(object);
    GST_OBJECT_LOCK(sink);
    switch (number) {
    case HOST:
        g_value_set_string(value, sink->host);
        break;
    case PORT:
        g_value_set_uint(value, sink->port);
        break;
    case LINK:
        g_value_set_string(value, sink->link_name);
        break;
    case RATE:
        g_value_set_uint64(value, sink->rate);
        break;
    case PLAN:
        g_value_set_string(value, sink->plan);
        break;
    case CLASS:
        g_value_set_string(value, sink->class_name);
        break;
    case FLOW:
        g_value_set_uint(value, sink->flow);
        break;
    case DSCP:
        g_value_set_uint(value, sink->dscp);
        break;
    case DEADLINE:
        g_value_set_uint64(value, sink->deadline);
        break;
    case EXPIRY:
        g_value_set_uint64(value, sink->expiry);
        break;
    case STATS:
        g_value_take_boxed(value, stats(sink));
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, number, spec);
    }
    GST_OBJECT_UNLOCK(sink);
}

/* Leaves the link. */
static gboolean stop(GstBaseSink *base) {
    LaxitySink *sink = LAXITY_SINK(base);
    LaxityLink *link;
    GST_OBJECT_LOCK(sink);
    link = sink->link;
    sink->link = NULL;
    GST_OBJECT_UNLOCK(sink);
    lx_udp_producer_free(sink->producer);
    sink->producer = NULL;
    if (link != NULL) {
        laxity_link_close(link);
    }
    return TRUE;
}

static gboolean start(GstBaseSink *base) {
    LaxitySink *sink = LAXITY_SINK(base);
    g_autofree char *host = NULL;
    g_autofree char *link_name = NULL;
    g_autofree char *plan = NULL;
    g_autofree char *class_name = NULL;
    guint port;
    guint64 rate, deadline, expiry;
    LaxityLink *link;
    GError *error = NULL;
    lx_error *failure = NULL;
    gboolean is_started;
    GST_OBJECT_LOCK(sink);
    host = g_strdup(sink->host);
    link_name = g_strdup(sink->link_name);
    plan = g_strdup(sink->plan);
    class_name = g_strdup(sink->class_name);
    port = sink->port;
    rate = sink->rate;
    deadline = sink->deadline;
    expiry = sink->expiry;
    GST_OBJECT_UNLOCK(sink);
    /* Without the lock, because files and names are looked up. */
    link = laxity_link_open(link_name, plan, rate, &error);
    is_started = link != NULL && laxity_link_terms(link, deadline, expiry, &error) &&
                 laxity_link_class(link, class_name, &sink->class_id, &error) &&
                 laxity_address(host, port, &sink->to, &sink->to_length, &error) &&
                 laxity_ok(lx_udp_sink_producer(laxity_link_sink(link), &sink->producer, &failure),
                           &failure, &error);
    GST_OBJECT_LOCK(sink);
    sink->link = link;
    GST_OBJECT_UNLOCK(sink);
    if (!is_started) {
        GST_ELEMENT_ERROR(sink, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
        g_clear_error(&error);
        stop(base);
    }
    return is_started;
}

static GstFlowReturn render(GstBaseSink *base, GstBuffer *buffer) {
    LaxitySink *sink = LAXITY_SINK(base);
    lx_datagram terms = LX_INIT(lx_datagram);
    lx_udp_datagram datagram = LX_INIT(lx_udp_datagram);
    GError *error = NULL;
    gboolean is_sent;
    GstMapInfo map;
    guint64 now = 0;
    if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) {
        GST_ELEMENT_ERROR(sink, RESOURCE, READ, ("a buffer cannot be read"), (NULL));
        return GST_FLOW_ERROR;
    }
    lx_udp_sink_now(laxity_link_sink(sink->link), &now, NULL);
    GST_OBJECT_LOCK(sink);
    terms.deadline = sink->deadline == 0 ? 0 : now + sink->deadline;
    terms.expires = sink->expiry == 0 ? 0 : now + sink->expiry;
    datagram.flow = sink->flow;
    datagram.dscp = (guint8)sink->dscp;
    GST_OBJECT_UNLOCK(sink);
    datagram.class_id = sink->class_id;
    datagram.terms = &terms;
    datagram.bytes = map.data;
    datagram.length = (guint32)MIN(map.size, G_MAXUINT32);
    datagram.to = &sink->to;
    datagram.to_length = sink->to_length;
    /* They may have been set since it was started. */
    is_sent = laxity_link_terms(sink->link, terms.deadline, terms.expires, &error) &&
              laxity_link_send(sink->link, sink->producer, &datagram, &error);
    gst_buffer_unmap(buffer, &map);
    if (!is_sent) {
        GST_ELEMENT_ERROR(sink, RESOURCE, WRITE, ("%s", error->message), (NULL));
        g_clear_error(&error);
        return GST_FLOW_ERROR;
    }
    return GST_FLOW_OK;
}

/* At the end of the stream, waits until the link has sent everything. */
static GstFlowReturn wait_event(GstBaseSink *base, GstEvent *event) {
    LaxitySink *sink = LAXITY_SINK(base);
    GstFlowReturn flow = GST_BASE_SINK_CLASS(laxity_sink_parent_class)->wait_event(base, event);
    while (GST_EVENT_TYPE(event) == GST_EVENT_EOS && flow == GST_FLOW_OK &&
           laxity_link_is_busy(sink->link)) {
        if (g_atomic_int_get(&sink->is_interrupted)) {
            flow = gst_base_sink_wait_preroll(base);
        } else {
            g_usleep(5000);
        }
    }
    return flow;
}

static gboolean unlock(GstBaseSink *base) {
    g_atomic_int_set(&LAXITY_SINK(base)->is_interrupted, TRUE);
    return TRUE;
}

static gboolean unlock_stop(GstBaseSink *base) {
    g_atomic_int_set(&LAXITY_SINK(base)->is_interrupted, FALSE);
    return TRUE;
}

static void finalize(GObject *object) {
    LaxitySink *sink = LAXITY_SINK(object);
    g_free(sink->host);
    g_free(sink->link_name);
    g_free(sink->plan);
    g_free(sink->class_name);
    G_OBJECT_CLASS(laxity_sink_parent_class)->finalize(object);
}

static void laxity_sink_init(LaxitySink *sink) {
    sink->host = g_strdup("127.0.0.1");
    sink->port = 5004;
}

static void add(GObjectClass *class, guint number, GParamSpec *spec) {
    g_object_class_install_property(class, number, spec);
}

static void laxity_sink_class_init(LaxitySinkClass *class) {
    GObjectClass *object = G_OBJECT_CLASS(class);
    GstElementClass *element = GST_ELEMENT_CLASS(class);
    GstBaseSinkClass *base = GST_BASE_SINK_CLASS(class);
    GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
    GParamFlags settled = flags | GST_PARAM_MUTABLE_READY;
    GParamFlags playing = flags | GST_PARAM_MUTABLE_PLAYING;
    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    base->start = start;
    base->stop = stop;
    base->render = render;
    base->wait_event = wait_event;
    base->unlock = unlock;
    base->unlock_stop = unlock_stop;
    add(object, HOST,
        g_param_spec_string("host", "Host", "Where datagrams go", "127.0.0.1", settled));
    add(object, PORT, g_param_spec_uint("port", "Port", "Its port", 1, 65535, 5004, settled));
    add(object, LINK,
        g_param_spec_string("link", "Link", "The name of a link that elements of this process "
                            "share, with one rate and plan; none for one of its own", NULL,
                            settled));
    add(object, RATE,
        g_param_spec_uint64("rate", "Rate", "The rate of the link in bit/s, with the headers of "
                            "UDP and IP; 0 for that of the plan, or without one as fast as can be",
                            0, G_MAXUINT64, 0, settled));
    add(object, PLAN,
        g_param_spec_string("plan", "Plan", "The plan that orders datagrams of the link; without "
                            "one they go by deadline", NULL, settled));
    add(object, CLASS,
        g_param_spec_string("class", "Class", "The class in the plan", NULL, settled));
    add(object, FLOW,
        g_param_spec_uint("flow", "Flow", "The flow or stream within the class", 0, G_MAXUINT, 0,
                          playing));
    add(object, DSCP,
        g_param_spec_uint("dscp", "DSCP", "The differentiated services code point", 0, 63, 0,
                          playing));
    add(object, DEADLINE,
        g_param_spec_uint64("deadline", "Deadline", "Time in ns until a buffer is due, without a "
                            "plan; 0 if it only has a share of what others leave", 0,
                            G_MAXINT64 / 4, 0, playing));
    add(object, EXPIRY,
        g_param_spec_uint64("expiry", "Expiry", "Time in ns until a buffer is of no use and is "
                            "dropped, without a plan; 0 if it always is", 0, G_MAXINT64 / 4, 0,
                            playing));
    add(object, STATS,
        g_param_spec_boxed("stats", "Statistics", "Counts of the link while it runs",
                           GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
    gst_element_class_add_static_pad_template(element, &template);
    gst_element_class_set_static_metadata(element, "Laxity UDP sink", "Sink/Network",
                                          "Sends datagrams paced, by deadline or by a plan",
                                          "The Laxity authors");
}

static gboolean plugin_init(GstPlugin *plugin) {
    return gst_element_register(plugin, "laxitysink", GST_RANK_NONE, LAXITY_TYPE_SINK);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, laxity, "Paced datagrams by liblaxity",
                  plugin_init, "0.1.0", "MIT/X11", PACKAGE, "liblaxity")
