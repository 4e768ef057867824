/* Withdrawing, drops, another plan under load, errors, and structs that grow. */
#include "check.h"

#define HEAD "version = 1\nlink = { rate = '8mbit', max-packet = '1500b' }\n"

static uint64_t queued(lx_scheduler *scheduler) {
    uint64_t packets = 0;
    uint64_t bytes = 0;
    IS(LX_OK, lx_backlog(scheduler, &packets, &bytes, &error));
    CHECK((packets == 0) == (bytes == 0));
    return packets;
}

static uint64_t push(lx_scheduler *scheduler, uint64_t now, uint32_t class_id, uint64_t handle) {
    lx_packet packet = packet_of(class_id, 100, now);
    uint64_t ticket;
    packet.handle = handle;
    IS(LX_OK, lx_push(scheduler, now, &packet, &ticket, &error));
    return ticket;
}

static uint64_t pop(lx_scheduler *scheduler, uint64_t now) {
    lx_packet packet = LX_INIT(lx_packet);
    IS(LX_OK, lx_pop(scheduler, now, &packet, NULL, &error));
    return packet.handle;
}

static void withdraw(void) {
    const char *kinds[] = {"edf", "wf2q", "wfq", "drr", "qfq", "priority", "fifo", "hfsc"};
    size_t kind;
    for (kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        lx_plan *read = plan_of(HEAD "scheduler.kind = 'fifo'\n[class.a]\n[class.b]\n");
        lx_plan *plan;
        lx_scheduler *scheduler;
        lx_packet packet = LX_INIT(lx_packet);
        uint64_t tickets[4];
        uint64_t handle;
        IS(LX_OK, lx_plan_under(read, kinds[kind], &plan, &error));
        IS(LX_OK, lx_scheduler_new(plan, 1, &scheduler, &error));
        for (handle = 0; handle < 4; handle++) {
            tickets[handle] = push(scheduler, handle, 0, handle);
            CHECK(tickets[handle] != LX_NO_TICKET);
        }
        IS(LX_OK, lx_withdraw(scheduler, 4, tickets[2], &packet, &error));
        CHECK(packet.handle == 2 && packet.arrival == 2 && queued(scheduler) == 3);
        IS(LX_NONE, lx_withdraw(scheduler, 4, tickets[2], &packet, &error));
        IS(LX_NONE, lx_withdraw(scheduler, 4, LX_NO_TICKET, &packet, &error));
        IS(LX_NONE, lx_withdraw(scheduler, 4, UINT64_MAX, &packet, &error));
        /* The place is taken again, and the former ticket does not reach who has it now. */
        push(scheduler, 5, 0, 9);
        IS(LX_NONE, lx_withdraw(scheduler, 5, tickets[2], &packet, &error));
        CHECK(pop(scheduler, 6) == 0 && pop(scheduler, 6) == 1);
        CHECK(pop(scheduler, 6) == 3 && pop(scheduler, 6) == 9);
        IS(LX_NONE, lx_pop(scheduler, 7, &packet, NULL, &error));
        lx_scheduler_free(scheduler);
        lx_plan_free(plan);
        lx_plan_free(read);
    }
}

static void drops(void) {
    lx_scheduler *scheduler = scheduler_of(
        HEAD "scheduler = { kind = 'fifo', queue = { kind = 'droptail', limit = 2 } }\n[class.a]\n",
        1);
    lx_packet packet = packet_of(0, 100, 0);
    uint32_t reason = 99;
    uint32_t has_room = 9;
    uint64_t ticket;
    IS(LX_NONE, lx_next_drop(scheduler, &packet, &reason, &error));
    push(scheduler, 0, 0, 1);
    push(scheduler, 0, 0, 2);
    IS(LX_OK, lx_has_room(scheduler, &packet, &has_room, &error));
    CHECK(has_room == 0);
    CHECK(push(scheduler, 0, 0, 3) == LX_NO_TICKET);
    packet.class_id = 7;
    packet.handle = 4;
    IS(LX_OK, lx_push(scheduler, 0, &packet, &ticket, &error));
    CHECK(ticket == LX_NO_TICKET);
    packet.class_id = 0;
    packet.length = 1501;
    packet.handle = 5;
    IS(LX_OK, lx_push(scheduler, 0, &packet, NULL, &error));
    IS(LX_OK, lx_next_drop(scheduler, &packet, &reason, &error));
    CHECK(packet.handle == 3 && reason == LX_DROP_QUEUE_FULL);
    IS(LX_OK, lx_next_drop(scheduler, &packet, &reason, &error));
    CHECK(packet.handle == 4 && reason == LX_DROP_NO_CLASS && packet.class_id == 7);
    IS(LX_OK, lx_next_drop(scheduler, &packet, NULL, &error));
    CHECK(packet.handle == 5 && packet.length == 1501);
    IS(LX_NONE, lx_next_drop(scheduler, &packet, &reason, &error));
    IS(LX_ERR_UNSUPPORTED, lx_withdraw(scheduler, 0, 1, &packet, &error));
    CHECK(pop(scheduler, 0) == 1);
    IS(LX_OK, lx_has_room(scheduler, &packet, &has_room, &error));
    CHECK(has_room == 1);

    /* Drops that nobody takes end in an error, not in ever more memory. */
    packet = packet_of(7, 100, 0);
    for (packet.handle = 0; packet.handle < LX_DROPS_KEPT; packet.handle++) {
        CHECK(lx_push(scheduler, 0, &packet, NULL, NULL) == LX_OK);
    }
    IS(LX_ERR_DROPS, lx_push(scheduler, 0, &packet, NULL, &error));
    IS(LX_OK, lx_next_drop(scheduler, &packet, NULL, &error));
    IS(LX_OK, lx_push(scheduler, 0, &packet, NULL, &error));
    lx_scheduler_free(scheduler);
}

static void reconfigure(void) {
    const char *before = HEAD "scheduler.kind = 'priority'\n"
                              "[class.x]\nlevel = 0\n[class.y]\nlevel = 1\n[class.z]\nlevel = 2\n";
    const char *after = HEAD "scheduler.kind = 'priority'\n"
                             "[class.z]\nlevel = 0\n[class.x]\nlevel = 1\n";
    lx_scheduler *scheduler = scheduler_of(before, 1);
    lx_plan *plan = plan_of(after);
    lx_plan *narrow = plan_of("version = 1\nlink = { rate = '8mbit', max-packet = '64b' }\n"
                              "scheduler.kind = 'fifo'\n[class.x]\n[class.z]\n");
    lx_packet packet = LX_INIT(lx_packet);
    uint32_t reason;
    uint64_t handle;
    uint64_t ticket = 0;
    for (handle = 0; handle < 9; handle++) {
        uint64_t made = push(scheduler, handle, (uint32_t)(handle % 3), handle);
        ticket = handle == 5 ? made : ticket;
    }
    IS(LX_ERR_ARGUMENT, lx_reconfigure(scheduler, narrow, 1, 10, &error));
    CHECK(queued(scheduler) == 9);
    CHECK(pop(scheduler, 10) == 0);
    IS(LX_OK, lx_reconfigure(scheduler, plan, 1, 10, &error));
    CHECK(queued(scheduler) == 5);
    for (handle = 1; handle < 9; handle += 3) {
        IS(LX_OK, lx_next_drop(scheduler, &packet, &reason, &error));
        CHECK(packet.handle == handle && reason == LX_DROP_NO_CLASS);
    }
    IS(LX_NONE, lx_next_drop(scheduler, &packet, &reason, &error));
    /* z goes first now and has another number; tickets stay. */
    IS(LX_OK, lx_withdraw(scheduler, 11, ticket, &packet, &error));
    CHECK(packet.handle == 5 && packet.class_id == 0);
    CHECK(pop(scheduler, 11) == 2 && pop(scheduler, 11) == 8);
    IS(LX_OK, lx_reconfigure(scheduler, plan, 1, 12, &error));
    CHECK(pop(scheduler, 12) == 3);
    push(scheduler, 13, 0, 20);
    IS(LX_OK, lx_clear(scheduler, plan, 1, &error));
    CHECK(queued(scheduler) == 0);
    IS(LX_OK, lx_next_drop(scheduler, &packet, &reason, &error));
    CHECK(packet.handle == 6 && reason == LX_DROP_SCHEDULER);
    IS(LX_OK, lx_next_drop(scheduler, &packet, &reason, &error));
    CHECK(packet.handle == 20 && reason == LX_DROP_SCHEDULER);
    IS(LX_NONE, lx_next_drop(scheduler, &packet, &reason, &error));
    push(scheduler, 14, 1, 21);
    CHECK(pop(scheduler, 14) == 21);
    lx_plan_free(narrow);
    lx_plan_free(plan);
    lx_scheduler_free(scheduler);
}

static void errors(void) {
    lx_scheduler *scheduler;
    lx_plan *plan = plan_of(HEAD "scheduler.kind = 'fifo'\n[class.a]\n");
    lx_packet packet = packet_of(0, 100, 5);
    lx_packet bad;
    uint64_t time;
    IS(LX_ERR_NULL, lx_scheduler_new(NULL, 1, &scheduler, &error));
    CHECK(scheduler == NULL);
    IS(LX_OK, lx_scheduler_new(plan, 1, &scheduler, &error));
    IS(LX_ERR_NULL, lx_push(NULL, 5, &packet, NULL, &error));
    IS(LX_ERR_NULL, lx_push(scheduler, 5, NULL, NULL, &error));
    IS(LX_ERR_TIME, lx_push(scheduler, 4, &packet, NULL, &error));
    IS(LX_ERR_TIME, lx_push(scheduler, LX_TIME_MAX + 1, &packet, NULL, &error));
    IS(LX_OK, lx_push(scheduler, 6, &packet, NULL, &error));
    IS(LX_ERR_TIME, lx_push(scheduler, 5, &packet, NULL, &error));
    bad = packet;
    bad.length = 0;
    IS(LX_ERR_ARGUMENT, lx_push(scheduler, 6, &bad, NULL, &error));
    bad = packet;
    bad.ecn = 4;
    IS(LX_ERR_ARGUMENT, lx_push(scheduler, 6, &bad, NULL, &error));
    bad = packet;
    bad.demoted = 2;
    IS(LX_ERR_ARGUMENT, lx_push(scheduler, 6, &bad, NULL, &error));
    bad = packet;
    bad.ack = 0x7000;
    IS(LX_ERR_ARGUMENT, lx_push(scheduler, 6, &bad, NULL, &error));
    bad = packet;
    bad.reserved = 1;
    IS(LX_ERR_ARGUMENT, lx_push(scheduler, 6, &bad, NULL, &error));
    bad.size = 0;
    IS(LX_ERR_SIZE, lx_push(scheduler, 6, &bad, NULL, &error));
    IS(LX_ERR_SIZE, lx_pop(scheduler, 6, &bad, NULL, &error));
    bad.size = 1u << 31;
    IS(LX_ERR_SIZE, lx_push(scheduler, 6, &bad, NULL, &error));
    IS(LX_ERR_NULL, lx_pop(scheduler, 6, NULL, NULL, &error));
    /* Nothing was lost by these. */
    CHECK(queued(scheduler) == 1);
    IS(LX_OK, lx_next_time(scheduler, 6, &time, &error));
    CHECK(time == 6);
    IS(LX_ERR_HANDLE, lx_push((lx_scheduler *)(void *)plan, 6, &packet, NULL, &error));
    IS(LX_OK, lx_pop(scheduler, 7, &packet, NULL, &error));
    IS(LX_NONE, lx_next_time(scheduler, 7, &time, &error));
    IS(LX_OK, lx_introduce(scheduler, 0, 1, 2, 3, &error));
    IS(LX_OK, lx_footprint(scheduler, &time, &error));
    lx_plan_free(plan);
    lx_scheduler_free(scheduler);
    lx_scheduler_free(NULL);
}

/* A program of a later version, whose structs are longer, and one that is cut. */
static void sizes(void) {
    struct {
        lx_packet packet;
        uint64_t later[3];
    } longer;
    struct {
        lx_choice choice;
        uint64_t later;
    } longer_choice;
    lx_scheduler *scheduler = scheduler_of(HEAD "scheduler.kind = 'fifo'\n[class.a]\n", 1);
    memset(&longer, 0xab, sizeof longer);
    longer.packet = packet_of(0, 100, 0);
    longer.packet.size = sizeof longer;
    longer.packet.handle = 77;
    IS(LX_OK, lx_push(scheduler, 0, &longer.packet, NULL, &error));
    memset(&longer, 0xab, sizeof longer);
    memset(&longer_choice, 0xab, sizeof longer_choice);
    longer.packet.size = sizeof longer;
    longer_choice.choice.size = sizeof longer_choice;
    IS(LX_OK, lx_pop(scheduler, 0, &longer.packet, &longer_choice.choice, &error));
    CHECK(longer.packet.handle == 77 && longer.packet.size == sizeof longer);
    CHECK(longer.later[0] == 0 && longer.later[1] == 0 && longer.later[2] == 0);
    CHECK(longer_choice.choice.deadline == LX_NEVER && longer_choice.later == 0);
    longer.packet.size = sizeof(lx_packet) - 1;
    IS(LX_ERR_SIZE, lx_push(scheduler, 0, &longer.packet, NULL, &error));
    lx_scheduler_free(scheduler);
}

/* Classes that no plan has, and times at the end of all times, under every discipline. */
static void strangers(void) {
    const char *kinds[] = {"edf",      "hfsc",     "dwcs",    "wf2q", "wfq", "drr",
                           "qfq",      "priority", "fq-codel", "dualpi2", "cake", "fifo"};
    const char *queues[] = {"", "queue = { kind = 'droptail', limit = 2 }\n",
                            "queue = { kind = 'choke', min = 1, max = 2, limit = 3 }\n",
                            "queue = { kind = 'pie', limit = 3 }\n",
                            "queue = { kind = 'codel', limit = 3 }\n"};
    size_t kind;
    size_t queue;
    for (kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        for (queue = 0; queue < sizeof queues / sizeof *queues; queue++) {
            char text[400];
            lx_plan *read;
            lx_plan *plan;
            lx_scheduler *scheduler;
            lx_packet packet = packet_of(UINT32_MAX, 100, LX_TIME_MAX);
            uint32_t has_room = 9;
            uint64_t time = 0;
            snprintf(text, sizeof text, HEAD "scheduler.kind = 'fifo'\n[class.a]\n%s"
                     "deadline = '5ms'\narrival = { bucket = '3kB', rate = '1mbit' }\n[class.b]\n",
                     queues[queue]);
            read = plan_of(text);
            IS(LX_OK, lx_plan_under(read, kinds[kind], &plan, &error));
            IS(LX_OK, lx_scheduler_new(plan, 1, &scheduler, &error));
            IS(LX_OK, lx_has_room(scheduler, &packet, &has_room, &error));
            IS(LX_OK, lx_introduce(scheduler, UINT32_MAX, UINT32_MAX, 1, 2, &error));
            push(scheduler, 0, 0, 1);
            IS(LX_OK, lx_push(scheduler, LX_TIME_MAX, &packet, NULL, &error));
            push(scheduler, LX_TIME_MAX, 0, 2);
            push(scheduler, LX_TIME_MAX, 1, 3);
            IS(LX_OK, lx_next_time(scheduler, LX_TIME_MAX, &time, &error));
            while (lx_pop(scheduler, LX_TIME_MAX, &packet, NULL, NULL) == LX_OK) {
            }
            IS(LX_OK, lx_reconfigure(scheduler, read, 1, LX_TIME_MAX, &error));
            lx_scheduler_free(scheduler);
            lx_plan_free(plan);
            lx_plan_free(read);
        }
    }
}

int main(void) {
    strangers();
    withdraw();
    drops();
    reconfigure();
    errors();
    sizes();
    return 0;
}
