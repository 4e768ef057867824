/* Repeats arrivals that the Rust side has written, and writes what is dispatched and dropped:
 * replay PLAN SCHEDULER SEED < arrivals. A line of arrivals is `time class flow length ecn`; the
 * link takes each packet as the pacer says. */
#include "check.h"

static void take_drops(lx_scheduler *scheduler) {
    lx_packet packet = LX_INIT(lx_packet);
    uint32_t reason = 0;
    lx_status status;
    while ((status = lx_next_drop(scheduler, &packet, &reason, NULL)) == LX_OK) {
        printf("drop %" PRIu64 " %s\n", packet.handle, lx_drop_reason_name(reason));
    }
    CHECK(status == LX_NONE);
}

/* Sends what may be sent from the time of the last arrival on and before a time. */
static void serve(lx_scheduler *scheduler, lx_pacer *pacer, uint64_t last, uint64_t until) {
    uint64_t now = 0;
    for (;;) {
        lx_packet packet = LX_INIT(lx_packet);
        lx_choice choice = LX_INIT(lx_choice);
        lx_status status;
        IS(LX_OK, lx_pacer_free_at(pacer, &now, &error));
        if (now < last) {
            now = last;
        }
        if (now >= until) {
            return;
        }
        status = lx_next_time(scheduler, now, &now, NULL);
        if (status == LX_NONE || now >= until) {
            return;
        }
        CHECK(status == LX_OK);
        status = lx_pop(scheduler, now, &packet, &choice, NULL);
        take_drops(scheduler);
        last = now;
        if (status == LX_NONE) {
            uint64_t next = 0;
            if (lx_next_time(scheduler, now, &next, NULL) == LX_NONE) {
                return;
            }
            last = next > now ? next : now + 1;
            continue;
        }
        CHECK(status == LX_OK && packet.size == sizeof packet && choice.size == sizeof choice);
        IS(LX_OK, lx_pacer_start(pacer, now, now, packet.length, NULL, NULL, &error));
        printf("send %" PRIu64 " at %" PRIu64 " ecn %u %s %" PRIu64 "\n", packet.handle, now,
               packet.ecn, lx_criterion_name(choice.criterion), choice.deadline);
    }
}

int main(int count, char **arguments) {
    lx_plan *read;
    lx_plan *plan;
    lx_scheduler *scheduler;
    lx_pacer *pacer;
    uint64_t seed;
    uint64_t packets;
    uint64_t time;
    uint64_t handle = 0;
    uint64_t last = 0;
    uint32_t class_id;
    uint32_t flow;
    uint32_t length;
    unsigned ecn;
    CHECK(count == 4);
    seed = strtoull(arguments[3], NULL, 10);
    IS(LX_OK, lx_plan_read(arguments[1], &read, &error));
    IS(LX_OK, lx_plan_under(read, arguments[2], &plan, &error));
    IS(LX_OK, lx_scheduler_new(plan, seed, &scheduler, &error));
    IS(LX_OK, lx_pacer_of_plan(plan, 0, &pacer, &error));
    while (scanf("%" SCNu64 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %u", &time, &class_id, &flow,
                 &length, &ecn) == 5) {
        lx_packet packet = packet_of(class_id, length, time);
        packet.flow = flow;
        packet.ecn = (uint8_t)ecn;
        packet.handle = handle++;
        serve(scheduler, pacer, last, time);
        last = time;
        IS(LX_OK, lx_push(scheduler, time, &packet, NULL, &error));
        take_drops(scheduler);
    }
    serve(scheduler, pacer, last, LX_TIME_MAX);
    IS(LX_OK, lx_backlog(scheduler, &packets, NULL, &error));
    CHECK(packets == 0);
    lx_pacer_free(pacer);
    lx_scheduler_free(scheduler);
    lx_plan_free(plan);
    lx_plan_free(read);
    return 0;
}
