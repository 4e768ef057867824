/* What the tests in C share: each check says where it failed. */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "laxity.h"

#define CHECK(condition)                                                                     \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);          \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

/* The status is this one; the message of any other is shown. */
#define IS(wanted, call)                                                                     \
    do {                                                                                     \
        lx_error *error = NULL;                                                              \
        lx_status status = (call);                                                           \
        if (status != (wanted)) {                                                            \
            fprintf(stderr, "%s:%d: %s is %s: %s\n", __FILE__, __LINE__, #call,              \
                    lx_status_name(status), error ? lx_error_message(error) : "no message"); \
            exit(1);                                                                         \
        }                                                                                    \
        CHECK((error != NULL) == (status < 0));                                              \
        CHECK(lx_error_status(error) == (status < 0 ? status : LX_OK));                      \
        lx_error_free(error);                                                                \
    } while (0)

static inline lx_plan *plan_of(const char *text) {
    lx_plan *plan;
    IS(LX_OK, lx_plan_parse(text, "plan.toml", NULL, &plan, &error));
    return plan;
}

static inline lx_scheduler *scheduler_of(const char *text, uint64_t seed) {
    lx_plan *plan = plan_of(text);
    lx_scheduler *scheduler;
    IS(LX_OK, lx_scheduler_new(plan, seed, &scheduler, &error));
    lx_plan_free(plan);
    return scheduler;
}

static inline lx_packet packet_of(uint32_t class_id, uint32_t length, uint64_t arrival) {
    lx_packet packet = LX_INIT(lx_packet);
    packet.class_id = class_id;
    packet.length = length;
    packet.arrival = arrival;
    return packet;
}

#endif
