/* The deadline queue: what it refuses, what it hands back, ranks, forecasts. */
#include "check.h"

static lx_datagram datagram_of(uint64_t handle, uint32_t length, uint64_t deadline,
                               uint64_t expires) {
    lx_datagram datagram = LX_INIT(lx_datagram);
    datagram.handle = handle;
    datagram.length = length;
    datagram.deadline = deadline;
    datagram.expires = expires;
    return datagram;
}

static lx_deadline_queue *queue_of(uint32_t limit) {
    lx_deadline_queue_settings settings = LX_INIT(lx_deadline_queue_settings);
    lx_deadline_queue *queue;
    settings.limit = limit;
    IS(LX_OK, lx_deadline_queue_new(&settings, &queue, &error));
    return queue;
}

/* A byte takes a nanosecond. */
static lx_budget budget_of(uint64_t bytes) {
    lx_budget budget = LX_INIT(lx_budget);
    budget.bytes = bytes;
    budget.bits_per_second = 8000000000u;
    return budget;
}

static void next_is(lx_deadline_queue *queue, uint64_t now, uint64_t handle, uint64_t arrives) {
    lx_budget budget = budget_of(10000);
    lx_datagram datagram = LX_INIT(lx_datagram);
    uint64_t time = 0;
    IS(LX_OK, lx_deadline_queue_pop(queue, now, &budget, &datagram, &time, &error));
    CHECK(datagram.handle == handle && time == arrives && datagram.size == sizeof datagram);
}

static void order_and_expiry(void) {
    lx_deadline_queue *queue = queue_of(4);
    lx_budget budget = budget_of(299);
    lx_datagram datagram = datagram_of(1, 300, 0, LX_NEVER);
    uint64_t tickets[4];
    uint64_t number = 0;
    uint64_t bytes = 0;
    uint32_t reason = 9;
    IS(LX_NONE, lx_deadline_queue_next_expiry(queue, &number, &error));
    IS(LX_OK, lx_deadline_queue_push(queue, &datagram, &tickets[0], &error));
    datagram = datagram_of(2, 200, 900, 2000);
    IS(LX_OK, lx_deadline_queue_push(queue, &datagram, &tickets[1], &error));
    datagram = datagram_of(3, 100, 400, 450);
    IS(LX_OK, lx_deadline_queue_push(queue, &datagram, &tickets[2], &error));
    datagram = datagram_of(4, 100, 800, 0);
    IS(LX_OK, lx_deadline_queue_push(queue, &datagram, &tickets[3], &error));
    IS(LX_FULL, lx_deadline_queue_push(queue, &datagram, NULL, &error));
    IS(LX_OK, lx_deadline_queue_backlog(queue, &number, &bytes, &error));
    CHECK(number == 4 && bytes == 700);
    IS(LX_OK, lx_deadline_queue_next_expiry(queue, &number, &error));
    CHECK(number == 450);
    IS(LX_OK, lx_deadline_queue_withdraw(queue, tickets[3], &datagram, &error));
    CHECK(datagram.handle == 4 && datagram.deadline == 800 && datagram.expires == LX_NEVER);
    IS(LX_NONE, lx_deadline_queue_withdraw(queue, tickets[3], &datagram, &error));
    IS(LX_NONE, lx_deadline_queue_withdraw(queue, UINT64_MAX, &datagram, &error));
    /* The place is taken again, and the old ticket is not that of who stands there now. */
    datagram = datagram_of(5, 100, 950, 0);
    IS(LX_OK, lx_deadline_queue_push(queue, &datagram, &number, &error));
    CHECK(number != tickets[3]);
    IS(LX_NONE, lx_deadline_queue_withdraw(queue, tickets[3], &datagram, &error));
    /* The third arrives after it expires, the second is next. */
    next_is(queue, 400, 2, 600);
    IS(LX_OK, lx_deadline_queue_next_unsent(queue, &datagram, &reason, &error));
    CHECK(datagram.handle == 3 && datagram.expires == 450 && reason == LX_UNSENT_TOO_LATE);
    IS(LX_NONE, lx_deadline_queue_next_unsent(queue, &datagram, &reason, &error));
    next_is(queue, 400, 5, 500);
    IS(LX_NONE, lx_deadline_queue_pop(queue, 400, &budget, &datagram, NULL, &error));
    IS(LX_ERR_TIME, lx_deadline_queue_expire(queue, 399, &error));
    next_is(queue, 401, 1, 701);
    datagram = datagram_of(6, 1, 0, 500);
    IS(LX_OK, lx_deadline_queue_push(queue, &datagram, NULL, &error));
    IS(LX_OK, lx_deadline_queue_expire(queue, 499, &error));
    IS(LX_NONE, lx_deadline_queue_next_unsent(queue, &datagram, NULL, &error));
    IS(LX_OK, lx_deadline_queue_expire(queue, 500, &error));
    IS(LX_OK, lx_deadline_queue_next_unsent(queue, &datagram, &reason, &error));
    CHECK(datagram.handle == 6 && reason == LX_UNSENT_EXPIRED);
    lx_deadline_queue_free(queue);
}

static void forecasts(void) {
    lx_deadline_queue *queue = queue_of(0);
    lx_budget budget = budget_of(0);
    lx_datagram datagram = datagram_of(1, 300, 300, 0);
    uint64_t arrives = 0;
    uint32_t will_arrive = 9;
    IS(LX_OK, lx_deadline_queue_push(queue, &datagram, NULL, &error));
    datagram = datagram_of(2, 100, 400, 400);
    IS(LX_OK, lx_deadline_queue_forecast(queue, 0, &datagram, &budget, &arrives, &error));
    CHECK(arrives == 400);
    IS(LX_OK, lx_deadline_queue_will_arrive(queue, 0, &datagram, &budget, &will_arrive, &error));
    CHECK(will_arrive == 1);
    budget.in_flight = 1;
    IS(LX_NONE, lx_deadline_queue_forecast(queue, 0, &datagram, &budget, &arrives, &error));
    IS(LX_OK, lx_deadline_queue_will_arrive(queue, 0, &datagram, &budget, &will_arrive, &error));
    CHECK(will_arrive == 0);
    lx_deadline_queue_free(queue);
}

static void ranks(void) {
    lx_deadline_queue *queue = queue_of(0);
    lx_datagram datagram = datagram_of(1, 1, 0, 0);
    uint64_t group;
    for (group = 5; group < 8; group++) {
        datagram.handle = group;
        IS(LX_OK, lx_datagram_rank_moq(&datagram, 1, 9, 3, LX_GROUPS_DESCENDING, group, 2, &error));
        CHECK(datagram.level == 265 && datagram.stream == 3 && datagram.order_low == 2);
        IS(LX_OK, lx_deadline_queue_push(queue, &datagram, NULL, &error));
    }
    datagram.handle = 1;
    IS(LX_OK, lx_datagram_rank_http(&datagram, 3, 0, 12, &error));
    CHECK(datagram.level == 3 && datagram.order_low == 12 && datagram.handle == 1);
    IS(LX_OK, lx_deadline_queue_push(queue, &datagram, NULL, &error));
    next_is(queue, 0, 1, 1);
    for (group = 7; group > 4; group--) {
        next_is(queue, 0, group, 1);
    }
    IS(LX_ERR_ARGUMENT, lx_datagram_rank_moq(&datagram, 1, 1, 1, 2, 1, 1, &error));
    IS(LX_ERR_NULL, lx_datagram_rank_http(NULL, 1, 1, 1, &error));
    lx_deadline_queue_free(queue);
}

static void refusals(void) {
    lx_deadline_queue_settings settings = LX_INIT(lx_deadline_queue_settings);
    lx_deadline_queue *queue;
    lx_scheduler *scheduler = scheduler_of("version = 1\nlink.rate = '1mbit'\n"
                                           "scheduler.kind = 'fifo'\n[class.a]\n", 1);
    lx_budget budget = budget_of(1);
    lx_datagram datagram = datagram_of(1, 1, 0, 0);
    settings.limit = (1u << 24) + 1;
    IS(LX_ERR_ARGUMENT, lx_deadline_queue_new(&settings, &queue, &error));
    CHECK(queue == NULL);
    IS(LX_OK, lx_deadline_queue_new(NULL, &queue, &error));
    IS(LX_ERR_NULL, lx_deadline_queue_push(queue, NULL, NULL, &error));
    IS(LX_ERR_NULL, lx_deadline_queue_push(NULL, &datagram, NULL, &error));
    IS(LX_ERR_NULL, lx_deadline_queue_pop(queue, 0, NULL, &datagram, NULL, &error));
    IS(LX_ERR_NULL, lx_deadline_queue_forecast(queue, 0, &datagram, &budget, NULL, &error));
    IS(LX_ERR_HANDLE, lx_deadline_queue_expire((lx_deadline_queue *)scheduler, 0, &error));
    datagram.length = 0;
    IS(LX_ERR_ARGUMENT, lx_deadline_queue_push(queue, &datagram, NULL, &error));
    datagram = datagram_of(1, 1, LX_TIME_MAX + 1, 0);
    IS(LX_ERR_TIME, lx_deadline_queue_push(queue, &datagram, NULL, &error));
    datagram = datagram_of(1, 1, 0, 0);
    datagram.reserved = 1;
    IS(LX_ERR_ARGUMENT, lx_deadline_queue_push(queue, &datagram, NULL, &error));
    datagram.size = 63;
    IS(LX_ERR_SIZE, lx_deadline_queue_push(queue, &datagram, NULL, &error));
    budget.reserved = 1;
    IS(LX_ERR_ARGUMENT, lx_deadline_queue_pop(queue, 0, &budget, &datagram, NULL, &error));
    lx_scheduler_free(scheduler);
    lx_deadline_queue_free(queue);
    lx_deadline_queue_free(NULL);
}

/* What nobody takes is not kept without end. */
static void handed_back_and_not_taken(void) {
    lx_deadline_queue *queue = queue_of(0);
    lx_datagram datagram = datagram_of(1, 1, 0, 1);
    uint64_t pushed = 0;
    lx_status status;
    while ((status = lx_deadline_queue_push(queue, &datagram, NULL, NULL)) == LX_OK) {
        pushed++;
        IS(LX_OK, lx_deadline_queue_expire(queue, 1, &error));
    }
    CHECK(status == LX_ERR_DROPS && pushed == LX_DROPS_KEPT);
    IS(LX_OK, lx_deadline_queue_next_unsent(queue, &datagram, NULL, &error));
    IS(LX_OK, lx_deadline_queue_push(queue, &datagram, NULL, &error));
    lx_deadline_queue_free(queue);
}

int main(void) {
    order_and_expiry();
    forecasts();
    ranks();
    refusals();
    handed_back_and_not_taken();
    return 0;
}
