/* An engine with producers on several threads, whose plan is replaced meanwhile. */
#include <pthread.h>

#include "check.h"

#define PRODUCERS 4
#ifndef PACKETS
#define PACKETS 20000
#endif

static const char PLAN[] = "version = 1\nlink.rate = '1gbit'\nscheduler.kind = 'wf2q'\n"
                           "[class.a]\nweight = 3\n[class.b]\n[class.c]\n";
static const char OTHER[] = "version = 1\nlink.rate = '1gbit'\nscheduler.kind = 'drr'\n"
                            "[class.a]\n[class.b]\n[class.c]\n";

struct sender {
    lx_producer *producer;
    uint64_t number;
    uint64_t refused;
};

static void *send_all(void *of) {
    struct sender *sender = of;
    uint64_t index;
    for (index = 0; index < PACKETS; index++) {
        lx_packet packet = packet_of((uint32_t)(index % 3), 100, 0);
        uint32_t mode = sender->number == 0 ? LX_SEND_DROP : LX_SEND_WAIT;
        lx_status status;
        packet.flow = (uint32_t)sender->number;
        packet.handle = sender->number << 32 | index;
        status = lx_producer_send(sender->producer, &packet, mode, NULL);
        CHECK(status == LX_OK || (status == LX_FULL && mode == LX_SEND_DROP));
        sender->refused += status == LX_FULL;
    }
    lx_producer_free(sender->producer);
    return NULL;
}

int main(void) {
    lx_plan *plan = plan_of(PLAN);
    lx_plan *other = plan_of(OTHER);
    lx_engine *engine;
    lx_engine_settings settings = LX_INIT(lx_engine_settings);
    lx_statistics statistics = LX_INIT(lx_statistics);
    lx_event events[32];
    /* Of each producer and class, the next packet that has not come. */
    uint64_t expected[PRODUCERS][3];
    struct sender senders[PRODUCERS];
    pthread_t threads[PRODUCERS];
    lx_producer *late;
    lx_packet packet = packet_of(0, 100, 0);
    uint64_t received = 0;
    uint64_t sent;
    uint64_t refused = 0;
    size_t count = 0;
    size_t index;
    memset(events, 0, sizeof events);
    settings.ring = 1u << 25;
    IS(LX_ERR_ARGUMENT, lx_engine_start(plan, 1, &settings, &engine, &error));
    settings.ring = 64;
    settings.events = 16;
    settings.bits_per_second = UINT64_MAX;
    IS(LX_ERR_ARGUMENT, lx_engine_start(plan, 1, &settings, &engine, &error));
    settings.bits_per_second = 0;
    IS(LX_OK, lx_engine_start(plan, 1, &settings, &engine, &error));
    IS(LX_ERR_SIZE, lx_engine_receive(engine, events, 32, 0, &count, &error));
    events[0].size = sizeof *events;
    IS(LX_ERR_ARGUMENT, lx_engine_receive(engine, events, 0, 0, &count, &error));
    IS(LX_NONE, lx_engine_receive(engine, events, 32, 1000, &count, &error));
    for (index = 0; index < PRODUCERS; index++) {
        senders[index].number = index;
        senders[index].refused = 0;
        memset(expected[index], 0, sizeof expected[index]);
        IS(LX_OK, lx_engine_producer(engine, &senders[index].producer, &error));
        CHECK(pthread_create(&threads[index], NULL, send_all, &senders[index]) == 0);
    }
    IS(LX_OK, lx_engine_producer(engine, &late, &error));
    IS(LX_ERR_BUSY, lx_engine_shutdown(engine, NULL, &error));
    IS(LX_ERR_ARGUMENT, lx_producer_send(late, &packet, 3, &error));
    IS(LX_ERR_NULL, lx_producer_send(late, NULL, LX_SEND_TRY, &error));
    for (sent = 0; received < (PRODUCERS - 1) * (uint64_t)PACKETS; sent++) {
        lx_status status = lx_engine_receive(engine, events, 32, 2000000000, &count, NULL);
        CHECK(status == LX_OK && count >= 1 && count <= 32);
        for (index = 0; index < count; index++) {
            uint64_t producer = events[index].handle >> 32;
            uint64_t number = events[index].handle & 0xffffffff;
            uint64_t *next = &expected[producer][number % 3];
            CHECK(events[index].kind == LX_SENT && events[index].size == sizeof *events);
            CHECK(producer == events[index].flow && number >= *next);
            CHECK(events[index].starts_at >= events[index].arrival);
            *next = number + 1;
            received += producer != 0;
        }
        if (sent % 100 == 50) {
            IS(LX_OK, lx_engine_reconfigure(engine, sent % 200 == 50 ? other : plan, 1, &error));
        }
    }
    for (index = 0; index < PRODUCERS; index++) {
        CHECK(pthread_join(threads[index], NULL) == 0);
        refused += senders[index].refused;
    }
    /* What nobody has received when the engine ends comes afterwards. */
    for (sent = 0; sent < 40; sent++) {
        packet.handle = (uint64_t)9 << 32 | sent;
        IS(LX_OK, lx_producer_send(late, &packet, LX_SEND_WAIT, &error));
    }
    lx_producer_free(late);
    IS(LX_OK, lx_engine_statistics(engine, &statistics, &error));
    IS(LX_OK, lx_engine_shutdown(engine, &statistics, &error));
    CHECK(statistics.received == statistics.sent && statistics.queued == 0);
    CHECK(statistics.sent == PRODUCERS * (uint64_t)PACKETS - refused + 40);
    CHECK(statistics.ring_dropped == refused && statistics.producers == PRODUCERS + 1);
    CHECK(statistics.bytes_sent == 100 * statistics.sent);
    sent = 0;
    for (;;) {
        lx_status status = lx_engine_receive(engine, events, 7, 0, &count, NULL);
        if (status == LX_END) {
            break;
        }
        CHECK(status == LX_OK && count >= 1 && count <= 7);
        for (index = 0; index < count; index++) {
            sent += events[index].handle >> 32 == 9;
        }
    }
    CHECK(sent == 40 && count == 0);
    IS(LX_ERR_STOPPED, lx_engine_shutdown(engine, NULL, &error));
    IS(LX_ERR_STOPPED, lx_engine_producer(engine, &late, &error));
    IS(LX_ERR_STOPPED, lx_engine_reconfigure(engine, plan, 1, &error));
    lx_engine_free(engine);
    lx_plan_free(plan);
    lx_plan_free(other);
    return 0;
}
