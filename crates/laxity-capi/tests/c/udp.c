/* The UDP sink over loopback: order, expiry, pace, marks, sockets, events, threads. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <semaphore.h>

#include "loopback.h"

#ifndef PACKETS
#define PACKETS 2000
#endif
#define SENDERS 3

static unsigned char bytes[1000];

static lx_udp_datagram datagram_to(const struct receiver *to, uint32_t length, uint64_t handle) {
    lx_udp_datagram datagram = LX_INIT(lx_udp_datagram);
    bytes[0] = (unsigned char)handle;
    datagram.bytes = bytes;
    datagram.length = length;
    datagram.to = &to->address;
    datagram.to_length = sizeof to->address;
    datagram.handle = handle;
    return datagram;
}

static lx_udp_sink *sink_of(const lx_plan *plan, const lx_udp_settings *settings,
                            lx_udp_producer **producer) {
    lx_udp_sink *sink;
    IS(LX_OK, lx_udp_sink_start(plan, 1, settings, &sink, &error));
    IS(LX_OK, lx_udp_sink_producer(sink, producer, &error));
    return sink;
}

/* Frees a sink that has sent everything; the counts. */
static lx_udp_statistics end(lx_udp_sink *sink, lx_udp_producer *producer) {
    lx_udp_statistics statistics = LX_INIT(lx_udp_statistics);
    IS(LX_ERR_BUSY, lx_udp_sink_shutdown(sink, NULL, &error));
    lx_udp_producer_free(producer);
    IS(LX_OK, lx_udp_sink_shutdown(sink, &statistics, &error));
    IS(LX_ERR_STOPPED, lx_udp_sink_shutdown(sink, NULL, &error));
    CHECK(statistics.received == statistics.sent + statistics.lost + statistics.dropped);
    CHECK(statistics.queued == 0);
    return statistics;
}

/* Held for a while: what expires meanwhile is dropped then, the rest goes by deadline. */
static void by_deadline(void) {
    struct receiver receiver = receiver_open();
    lx_udp_settings settings = LX_INIT(lx_udp_settings);
    lx_udp_producer *producer;
    lx_udp_sink *sink;
    lx_datagram terms = LX_INIT(lx_datagram);
    lx_event events[8] = {{.size = sizeof(lx_event)}};
    lx_udp_statistics statistics;
    uint64_t now = 0;
    uint64_t kinds[4] = {0};
    uint64_t last = 0;
    size_t count = 0;
    size_t index;
    uint16_t port;
    int tos;
    settings.held = 1;
    /* However late the thread is. */
    settings.catch_up = 60000000000u;
    settings.events = 64;
    settings.departures = 1;
    sink = sink_of(NULL, &settings, &producer);
    IS(LX_OK, lx_udp_sink_now(sink, &now, &error));
    for (index = 0; index < 4; index++) {
        lx_udp_datagram datagram = datagram_to(&receiver, 200, index);
        terms.deadline = now + (9 - index) * 1000000000u;
        terms.expires = index == 2 ? now + 50000000 : 0;
        datagram.terms = index == 0 ? NULL : &terms;
        datagram.dscp = 46;
        datagram.ecn = LX_ECN_CAPABLE;
        IS(LX_OK, lx_udp_send(producer, &datagram, LX_SEND_WAIT, &error));
    }
    IS(LX_OK, lx_udp_sink_receive(sink, events, 8, 2000000000, &count, &error));
    CHECK(count == 1 && events[0].kind == LX_DROPPED && events[0].reason == LX_DROP_LATE);
    CHECK(events[0].handle == 2 && events[0].length == 228);
    IS(LX_OK, lx_udp_sink_set_rate(sink, 8 * 228 * 1000, &error));
    for (index = 0; index < 3; index++) {
        static const int order[] = {3, 1, 0};
        CHECK(receiver_next(&receiver, &tos, &port) == order[index]);
        CHECK(tos == (46 << 2 | LX_ECN_CAPABLE));
    }
    statistics = end(sink, producer);
    CHECK(statistics.sent == 3 && statistics.dropped == 1 && statistics.bytes_sent == 600);
    while (lx_udp_sink_receive(sink, events, 8, 0, &count, NULL) == LX_OK) {
        for (index = 0; index < count; index++) {
            const lx_event *event = &events[index];
            kinds[event->kind]++;
            if (event->kind == LX_SENT) {
                /* A millisecond of the link each. */
                CHECK(last == 0 || event->starts_at == last + 1000000);
                CHECK(event->left_at == LX_NEVER && event->arrival <= event->starts_at);
                last = event->starts_at;
            }
            CHECK(event->kind != LX_DEPARTED || event->left_at < LX_TIME_MAX);
        }
    }
    CHECK(kinds[LX_SENT] == 3 && kinds[LX_DEPARTED] == 3 && kinds[LX_LOST] == 0);
    IS(LX_END, lx_udp_sink_receive(sink, events, 8, 0, &count, &error));
    lx_udp_sink_free(sink);
    close(receiver.socket);
}

/* A plan orders them and has their rate; a second plan takes over. */
static void by_plan(void) {
    static const char PLAN[] = "version = 1\nlink.rate = '8mbit'\nscheduler.kind = 'priority'\n"
                               "[class.video]\nlevel = 1\n[class.audio]\nlevel = 0\n";
    struct receiver receiver = receiver_open();
    lx_plan *plan = plan_of(PLAN);
    lx_plan *other;
    lx_udp_settings settings = LX_INIT(lx_udp_settings);
    lx_udp_producer *producer;
    lx_udp_sink *sink;
    uint64_t handle;
    uint64_t from = 0;
    uint64_t until = 0;
    uint16_t port;
    int tos;
    int audio = 0;
    int next;
    IS(LX_OK, lx_plan_under(plan, "fifo", &other, &error));
    settings.catch_up = 1;
    sink = sink_of(plan, &settings, &producer);
    IS(LX_OK, lx_udp_sink_now(sink, &from, &error));
    for (handle = 0; handle < 40; handle++) {
        lx_udp_datagram datagram = datagram_to(&receiver, 972, handle);
        datagram.class_id = handle >= 30;
        IS(LX_OK, lx_udp_send(producer, &datagram, LX_SEND_WAIT, &error));
    }
    for (handle = 0; handle < 40; handle++) {
        next = receiver_next(&receiver, &tos, &port);
        CHECK(next >= 0 && tos == 0);
        audio += next >= 30 && handle < 20;
        if (handle == 20) {
            IS(LX_OK, lx_udp_sink_reconfigure(sink, other, 1, &error));
        }
    }
    IS(LX_OK, lx_udp_sink_now(sink, &until, &error));
    CHECK(audio == 10);
    /* 1000 bytes with headers take a millisecond. */
    CHECK(until - from >= 39000000);
    CHECK(end(sink, producer).sent == 40);
    lx_udp_sink_free(sink);
    lx_plan_free(plan);
    lx_plan_free(other);
    close(receiver.socket);
}

/* Sockets of the caller's, who may close them; what cannot be sent is lost. */
static void sockets(void) {
    struct receiver receiver = receiver_open();
    struct receiver own[2];
    int numbers[2];
    lx_udp_settings settings = LX_INIT(lx_udp_settings);
    lx_udp_producer *producer;
    lx_udp_sink *sink;
    lx_udp_datagram datagram = datagram_to(&receiver, 1, 7);
    struct receiver everybody = receiver;
    lx_event event = LX_INIT(lx_event);
    lx_udp_statistics statistics = LX_INIT(lx_udp_statistics);
    size_t count = 0;
    uint16_t port;
    int tos;
    int index;
    for (index = 0; index < 2; index++) {
        own[index] = receiver_open();
        numbers[index] = own[index].socket;
    }
    settings.sockets = numbers;
    settings.socket_count = 2;
    settings.events = 1;
    sink = sink_of(NULL, &settings, &producer);
    close(own[0].socket);
    close(own[1].socket);
    for (index = 0; index < 2; index++) {
        datagram.socket = (uint32_t)index;
        IS(LX_OK, lx_udp_send(producer, &datagram, LX_SEND_TRY, &error));
        CHECK(receiver_next(&receiver, &tos, &port) == 7);
        CHECK(port == ntohs(own[index].address.sin_port));
    }
    /* There is room for one event: that of the second datagram is lost. */
    do {
        IS(LX_OK, lx_udp_sink_statistics(sink, &statistics, &error));
    } while (statistics.events_lost == 0);
    IS(LX_OK, lx_udp_sink_receive(sink, &event, 1, 0, &count, &error));
    CHECK(event.kind == LX_SENT && event.handle == 7);
    everybody.address.sin_addr.s_addr = htonl(INADDR_BROADCAST);
    datagram = datagram_to(&everybody, 1, 8);
    IS(LX_OK, lx_udp_send(producer, &datagram, LX_SEND_TRY, &error));
    IS(LX_OK, lx_udp_sink_receive(sink, &event, 1, 2000000000, &count, &error));
    CHECK(event.kind == LX_LOST && event.reason == LX_LOST_FORBIDDEN && event.handle == 8);
    datagram.socket = 2;
    IS(LX_ERR_ARGUMENT, lx_udp_send(producer, &datagram, LX_SEND_TRY, &error));
    statistics = end(sink, producer);
    CHECK(statistics.sent == 2 && statistics.lost == 1 && statistics.events_lost == 1);
    lx_udp_sink_free(sink);
    numbers[1] = 1 << 20;
    IS(LX_ERR_SOCKET, lx_udp_sink_start(NULL, 1, &settings, &sink, &error));
    numbers[1] = -1;
    IS(LX_ERR_SOCKET, lx_udp_sink_start(NULL, 1, &settings, &sink, &error));
    close(receiver.socket);
}

static void refusals(void) {
    struct receiver receiver = receiver_open();
    lx_udp_settings settings = LX_INIT(lx_udp_settings);
    lx_udp_producer *producer;
    lx_udp_sink *sink = sink_of(NULL, NULL, &producer);
    lx_plan *plan =
        plan_of("version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'fifo'\n[class.a]\n");
    lx_datagram terms = LX_INIT(lx_datagram);
    lx_udp_datagram good = datagram_to(&receiver, 1, 1);
    lx_udp_datagram datagram = good;
    lx_event event = LX_INIT(lx_event);
    size_t count = 0;
    datagram.length = 65508;
    IS(LX_ERR_ARGUMENT, lx_udp_send(producer, &datagram, LX_SEND_TRY, &error));
    datagram = good;
    datagram.bytes = NULL;
    IS(LX_ERR_NULL, lx_udp_send(producer, &datagram, LX_SEND_TRY, &error));
    datagram = good;
    datagram.to_length = 15;
    IS(LX_ERR_ARGUMENT, lx_udp_send(producer, &datagram, LX_SEND_TRY, &error));
    datagram.to = NULL;
    IS(LX_ERR_NULL, lx_udp_send(producer, &datagram, LX_SEND_TRY, &error));
    datagram = good;
    datagram.dscp = 64;
    IS(LX_ERR_ARGUMENT, lx_udp_send(producer, &datagram, LX_SEND_TRY, &error));
    datagram = good;
    datagram.ecn = 4;
    IS(LX_ERR_ARGUMENT, lx_udp_send(producer, &datagram, LX_SEND_TRY, &error));
    datagram = good;
    terms.deadline = LX_TIME_MAX + 1;
    datagram.terms = &terms;
    IS(LX_ERR_TIME, lx_udp_send(producer, &datagram, LX_SEND_TRY, &error));
    IS(LX_ERR_ARGUMENT, lx_udp_send(producer, &good, 3, &error));
    IS(LX_ERR_ARGUMENT, lx_udp_sink_receive(sink, &event, 1, 0, &count, &error));
    IS(LX_ERR_UNSUPPORTED, lx_udp_sink_reconfigure(sink, plan, 1, &error));
    IS(LX_ERR_ARGUMENT, lx_udp_sink_set_rate(sink, UINT64_MAX, &error));
    CHECK(end(sink, producer).received == 0);
    IS(LX_ERR_STOPPED, lx_udp_sink_hold(sink, &error));
    lx_udp_sink_free(sink);
    settings.transmit_time = 3;
    IS(LX_ERR_ARGUMENT, lx_udp_sink_start(NULL, 1, &settings, &sink, &error));
    settings.transmit_time = 0;
    settings.held = 2;
    IS(LX_ERR_ARGUMENT, lx_udp_sink_start(NULL, 1, &settings, &sink, &error));
    settings.held = 0;
    settings.events = (1u << 24) + 1;
    IS(LX_ERR_ARGUMENT, lx_udp_sink_start(NULL, 1, &settings, &sink, &error));
    settings.events = 0;
    settings.socket_count = 1;
    IS(LX_ERR_NULL, lx_udp_sink_start(NULL, 1, &settings, &sink, &error));
    lx_plan_free(plan);
    close(receiver.socket);
}

struct sender {
    const lx_udp_sink *sink;
    const struct receiver *to;
    /* Datagrams that find room in the receiver's buffer. */
    sem_t *room;
};

static void *send_all(void *of) {
    const struct sender *sender = of;
    lx_udp_producer *producer;
    unsigned char *own = malloc(200);
    lx_udp_datagram datagram = LX_INIT(lx_udp_datagram);
    int index;
    IS(LX_OK, lx_udp_sink_producer(sender->sink, &producer, &error));
    datagram.bytes = own;
    datagram.length = 200;
    datagram.to = &sender->to->address;
    datagram.to_length = sizeof sender->to->address;
    for (index = 0; index < PACKETS; index++) {
        memset(own, index, 200);
        CHECK(sem_wait(sender->room) == 0);
        IS(LX_OK, lx_udp_send(producer, &datagram, LX_SEND_WAIT, &error));
        /* Its bytes are the sink's own by now. */
        memset(own, 0xff, 200);
    }
    free(own);
    lx_udp_producer_free(producer);
    return NULL;
}

/* Several threads send while another one receives and asks for counts. */
static void threads(void) {
    struct receiver receiver = receiver_open();
    lx_udp_settings settings = LX_INIT(lx_udp_settings);
    lx_udp_sink *sink;
    lx_udp_statistics statistics = LX_INIT(lx_udp_statistics);
    pthread_t running[SENDERS];
    struct sender sender;
    sem_t room;
    uint64_t received = 0;
    int sum = 0;
    uint16_t port;
    int tos;
    int index;
    settings.bits_per_second = 40000000;
    IS(LX_OK, lx_udp_sink_start(NULL, 1, &settings, &sink, &error));
    sender.sink = sink;
    sender.to = &receiver;
    sender.room = &room;
    CHECK(sem_init(&room, 0, 100) == 0);
    for (index = 0; index < SENDERS; index++) {
        CHECK(pthread_create(&running[index], NULL, send_all, &sender) == 0);
    }
    while (received < SENDERS * (uint64_t)PACKETS) {
        int first = receiver_next(&receiver, &tos, &port);
        CHECK(first >= 0 && sem_post(&room) == 0);
        sum += first;
        received++;
        if (received % 100 == 0) {
            IS(LX_OK, lx_udp_sink_statistics(sink, &statistics, &error));
            CHECK(statistics.received >= received && statistics.lost == 0);
        }
    }
    for (index = 0; index < SENDERS; index++) {
        CHECK(pthread_join(running[index], NULL) == 0);
    }
    for (index = 0; index < PACKETS; index++) {
        sum -= SENDERS * (index % 256);
    }
    CHECK(sum == 0);
    IS(LX_OK, lx_udp_sink_shutdown(sink, &statistics, &error));
    CHECK(statistics.sent == received && statistics.bytes_sent == 200 * received);
    lx_udp_sink_free(sink);
    close(receiver.socket);
}

int main(void) {
    by_deadline();
    by_plan();
    sockets();
    refusals();
    threads();
    return 0;
}
