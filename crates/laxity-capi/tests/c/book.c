/* Reservations: admitted, held, changed, refused with an offer. */
#include "check.h"

#define MS 1000000u

static lx_request request_of(const char *name, const char *keys) {
    lx_request request = LX_INIT(lx_request);
    request.name = name;
    request.keys = keys;
    return request;
}

int main(void) {
    static const char KEYS[] =
        "deadline = '20ms'\narrival = { bucket = '3kB', rate = '3mbit', packet = '1500b' }";
    lx_plan *plan = plan_of("version = 1\nlink.rate = '10mbit'\nscheduler.kind = 'edf'\n[class.rest]\n");
    lx_plan *now_plan;
    lx_book *book;
    lx_grant grant = LX_INIT(lx_grant);
    lx_offer offer = LX_INIT(lx_offer);
    lx_request request = request_of("a", KEYS);
    uint64_t next;
    uint64_t now;
    uint32_t classes;
    size_t gone;
    char *json;
    IS(LX_OK, lx_book_new(plan, &book, &error));
    IS(LX_OK, lx_book_admit(book, 0, &request, &grant, &offer, &error));
    CHECK(grant.bound == 20 * MS && grant.until == LX_NEVER && grant.size == sizeof grant);
    IS(LX_ERR_RESERVATION, lx_book_admit(book, 0, &request, &grant, &offer, &error));
    request = request_of("b", KEYS);
    request.commit_by = 50 * MS;
    IS(LX_OK, lx_book_admit(book, 1, &request, &grant, NULL, &error));
    IS(LX_OK, lx_book_commit(book, 2, "b", &error));
    /* Newcomers wait until the link was clear once. */
    now = grant.from;
    CHECK(now > 1 && now < 50u * MS);
    IS(LX_OK, lx_book_plan(book, now, &now_plan, &error));
    IS(LX_OK, lx_plan_classes(now_plan, &classes, &error));
    CHECK(classes == 3);
    lx_plan_free(now_plan);
    request = request_of("c", "deadline = '20ms'\n"
                              "arrival = { bucket = '3kB', rate = '6mbit', packet = '1500b' }");
    IS(LX_ERR_NO_ROOM, lx_book_admit(book, ++now, &request, &grant, &offer, &error));
    /* Four of ten Mbit/s are left. */
    CHECK(offer.bits_per_second > 0 && offer.bits_per_second <= 4000000);
    CHECK(offer.size == sizeof offer);
    IS(LX_ERR_NO_ROOM, lx_book_admit(book, ++now, &request, NULL, NULL, &error));
    IS(LX_OK, lx_book_change(book, ++now, "b",
                             "deadline = '20ms'\narrival = { bucket = '3kB', rate = '1mbit', "
                             "packet = '1500b' }",
                             &grant, &offer, &error));
    CHECK(offer.bits_per_second == 0);
    IS(LX_ERR_PLAN, lx_book_change(book, ++now, "a", "deadline = ", &grant, &offer, &error));
    IS(LX_ERR_RESERVATION, lx_book_release(book, ++now, "z", &error));
    IS(LX_OK, lx_book_renew(book, ++now, "a", 100 * MS, &error));
    IS(LX_OK, lx_book_next_change(book, ++now, &next, &error));
    IS(LX_OK, lx_book_json(book, ++now, &json, &error));
    CHECK(strstr(json, "\"name\": \"a\"") != NULL);
    lx_text_free(json);
    IS(LX_OK, lx_book_release(book, ++now, "b", &error));
    IS(LX_OK, lx_book_expire(book, 1000u * MS, &gone, &error));
    CHECK(gone >= 2);
    IS(LX_ERR_TIME, lx_book_expire(book, 999u * MS, &gone, &error));
    request.name = NULL;
    IS(LX_ERR_NULL, lx_book_admit(book, 1000u * MS, &request, NULL, NULL, &error));
    request = request_of("d", KEYS);
    request.path_length = 2;
    IS(LX_ERR_NULL, lx_book_admit(book, 1000u * MS, &request, NULL, NULL, &error));
    request.path_length = UINT32_MAX;
    IS(LX_ERR_ARGUMENT, lx_book_admit(book, 1000u * MS, &request, NULL, NULL, &error));
    request = request_of("d", KEYS);
    request.from = LX_NEVER;
    IS(LX_ERR_TIME, lx_book_admit(book, 1000u * MS, &request, NULL, NULL, &error));
    request = request_of("d", KEYS);
    request.from = 2000u * MS;
    request.until = 1500u * MS;
    IS(LX_ERR_ARGUMENT, lx_book_admit(book, 1000u * MS, &request, NULL, NULL, &error));
    lx_book_free(book);
    lx_plan_free(plan);
    return 0;
}
