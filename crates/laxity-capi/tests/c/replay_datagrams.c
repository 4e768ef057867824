/* Repeats calls of a deadline queue that the Rust side has written, and writes the answers:
 * replay_datagrams LIMIT < calls. Datagrams are numbered as they are pushed. */
#include "check.h"

#define MOST 4096

static lx_deadline_queue *queue;
static uint64_t tickets[MOST];

static int reads(const char *what, uint64_t *number) {
    int is_read = scanf("%" SCNu64, number) == 1;
    CHECK(is_read || what == NULL);
    return is_read;
}

static lx_datagram datagram(uint64_t handle) {
    lx_datagram datagram = LX_INIT(lx_datagram);
    uint64_t length = 0;
    uint64_t level = 0;
    reads("length", &length);
    reads("level", &level);
    reads("stream", &datagram.stream);
    reads("order", &datagram.order_low);
    reads("deadline", &datagram.deadline);
    reads("expires", &datagram.expires);
    datagram.handle = handle;
    datagram.length = (uint32_t)length;
    datagram.level = (uint32_t)level;
    datagram.order_high = datagram.order_low / 2;
    return datagram;
}

static lx_budget budget(void) {
    lx_budget budget = LX_INIT(lx_budget);
    reads("bytes", &budget.bytes);
    reads("rate", &budget.bits_per_second);
    reads("in flight", &budget.in_flight);
    return budget;
}

static void answer(lx_status status, const char *what, uint64_t number, uint64_t time) {
    CHECK(status >= 0);
    if (status == LX_OK) {
        printf("%s %" PRIu64 " %" PRIu64 "\n", what, number, time);
    } else {
        printf("%s %s\n", what, lx_status_name(status));
    }
}

static void take_unsent(void) {
    lx_datagram unsent = LX_INIT(lx_datagram);
    uint32_t reason = 9;
    while (lx_deadline_queue_next_unsent(queue, &unsent, &reason, NULL) == LX_OK) {
        const char *why = reason == LX_UNSENT_EXPIRED ? "expired" : "too late";
        printf("unsent %" PRIu64 " %s\n", unsent.handle, why);
    }
}

static void call(char what, uint64_t now, uint64_t *pushed) {
    lx_datagram given = LX_INIT(lx_datagram);
    lx_budget with;
    uint64_t number = 0;
    uint64_t time = 0;
    uint32_t will_arrive = 9;
    lx_status status;
    switch (what) {
    case 'p':
        CHECK(*pushed < MOST);
        given = datagram(*pushed);
        status = lx_deadline_queue_push(queue, &given, &tickets[*pushed], NULL);
        answer(status, "push", *pushed, now);
        *pushed += 1;
        break;
    case 's':
        with = budget();
        status = lx_deadline_queue_pop(queue, now, &with, &given, &time, NULL);
        take_unsent();
        answer(status, "sent", given.handle, time);
        break;
    case 'w':
        reads("number", &number);
        CHECK(number < *pushed);
        status = lx_deadline_queue_withdraw(queue, tickets[number], &given, NULL);
        answer(status, "withdrawn", given.handle, given.deadline);
        break;
    case 'f':
        given = datagram(0);
        with = budget();
        status = lx_deadline_queue_forecast(queue, now, &given, &with, &time, NULL);
        answer(status, "forecast", 0, time);
        status = lx_deadline_queue_will_arrive(queue, now, &given, &with, &will_arrive, NULL);
        answer(status, "will arrive", will_arrive, 0);
        break;
    default:
        status = lx_deadline_queue_expire(queue, now, NULL);
        take_unsent();
        CHECK(status == LX_OK);
        status = lx_deadline_queue_next_expiry(queue, &time, NULL);
        answer(status, "next expiry", 0, time);
        IS(LX_OK, lx_deadline_queue_backlog(queue, &number, &time, &error));
        answer(LX_OK, "backlog", number, time);
    }
}

int main(int count, char **arguments) {
    lx_deadline_queue_settings settings = LX_INIT(lx_deadline_queue_settings);
    char what;
    uint64_t now;
    uint64_t pushed = 0;
    CHECK(count == 2);
    settings.limit = (uint32_t)strtoul(arguments[1], NULL, 10);
    IS(LX_OK, lx_deadline_queue_new(&settings, &queue, &error));
    while (scanf(" %c", &what) == 1 && reads(NULL, &now)) {
        call(what, now, &pushed);
    }
    lx_deadline_queue_free(queue);
    return 0;
}
