/* A link that a program serves itself: packets in, packets out, in the order of a plan.
 *   cc link.c $(pkg-config --cflags --libs laxity) && ./a.out ../../home-uplink.toml */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "laxity.h"

/* Ends the program with what went wrong. */
static void fail(lx_error *error) {
    fprintf(stderr, "%s\n", lx_error_message(error));
    lx_error_free(error);
    exit(1);
}

int main(int count, char **arguments) {
    lx_error *error;
    lx_plan *plan;
    lx_scheduler *scheduler;
    lx_pacer *pacer;
    uint64_t now = 0;
    uint64_t handle;
    uint32_t classes;
    if (lx_abi_version() != LX_ABI_VERSION || count != 2) {
        fprintf(stderr, "usage: link PLAN\n");
        return 2;
    }
    if (lx_plan_read(arguments[1], &plan, &error) < 0 ||
        lx_scheduler_new(plan, 1, &scheduler, &error) < 0 ||
        lx_pacer_of_plan(plan, 0, &pacer, &error) < 0 ||
        lx_plan_classes(plan, &classes, &error) < 0) {
        fail(error);
    }

    /* Twenty packets come at once. The handle is yours: a number, or the address of a buffer. */
    for (handle = 0; handle < 20; handle++) {
        lx_packet packet = LX_INIT(lx_packet);
        packet.class_id = (uint32_t)handle % classes;
        packet.length = 200;
        packet.arrival = now;
        packet.handle = handle;
        if (lx_push(scheduler, now, &packet, NULL, &error) < 0) {
            fail(error);
        }
    }
    /* Each is sent when the link has sent the one before. */
    while (lx_next_time(scheduler, now, &now, &error) == LX_OK) {
        lx_packet packet = LX_INIT(lx_packet);
        if (lx_pop(scheduler, now, &packet, NULL, &error) != LX_OK) {
            continue;
        }
        const char *name;
        lx_plan_class_name(plan, packet.class_id, &name, NULL);
        printf("%8" PRIu64 " ns: packet %" PRIu64 " of %s\n", now, packet.handle, name);
        if (lx_pacer_start(pacer, now, now, packet.length, NULL, &now, &error) < 0) {
            fail(error);
        }
    }
    /* What was dropped is handed back, too. */
    lx_packet packet = LX_INIT(lx_packet);
    uint32_t reason;
    while (lx_next_drop(scheduler, &packet, &reason, &error) == LX_OK) {
        printf("packet %" PRIu64 " is dropped: %s\n", packet.handle, lx_drop_reason_name(reason));
    }
    lx_pacer_free(pacer);
    lx_scheduler_free(scheduler);
    lx_plan_free(plan);
    return 0;
}
