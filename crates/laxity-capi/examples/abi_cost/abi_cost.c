/* The time of a push and a pop through the library, in ns: abi_cost PLAN BACKLOG PACKETS. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "laxity.h"

static uint32_t drawn = 1;

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void push(lx_scheduler *scheduler, uint64_t now, uint32_t classes) {
    lx_packet packet = LX_INIT(lx_packet);
    drawn = drawn * 1664525u + 1013904223u;
    packet.class_id = (drawn >> 8) % classes;
    packet.length = 64 + (drawn >> 16) % 1400;
    packet.arrival = now;
    packet.handle = now;
    if (lx_push(scheduler, now, &packet, NULL, NULL) != LX_OK) {
        fail("a packet was refused");
    }
}

int main(int count, char **arguments) {
    lx_plan *plan;
    lx_scheduler *scheduler;
    uint32_t classes;
    uint64_t backlog;
    uint64_t packets;
    uint64_t now;
    uint64_t sum = 0;
    struct timespec begin;
    struct timespec end;
    if (count != 4 || lx_plan_read(arguments[1], &plan, NULL) != LX_OK ||
        lx_plan_classes(plan, &classes, NULL) != LX_OK ||
        lx_scheduler_new(plan, 1, &scheduler, NULL) != LX_OK) {
        fail("usage: abi_cost PLAN BACKLOG PACKETS");
    }
    backlog = strtoull(arguments[2], NULL, 10);
    packets = strtoull(arguments[3], NULL, 10);
    for (now = 0; now < backlog; now++) {
        push(scheduler, now, classes);
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (; now < backlog + packets; now++) {
        lx_packet packet = LX_INIT(lx_packet);
        push(scheduler, now, classes);
        if (lx_pop(scheduler, now, &packet, NULL, NULL) != LX_OK) {
            fail("nothing was sent");
        }
        sum += packet.handle;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (sum == 0) {
        fail("no packet has a handle");
    }
    printf("%f\n", ((double)(end.tv_sec - begin.tv_sec) * 1e9 +
                    (double)(end.tv_nsec - begin.tv_nsec)) / (double)packets);
    lx_scheduler_free(scheduler);
    lx_plan_free(plan);
    return 0;
}
