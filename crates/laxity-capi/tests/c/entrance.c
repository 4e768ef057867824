/* The classifier, the policer and the pacer. */
#include "check.h"

static void classifying(void) {
    lx_plan *plan = plan_of("version = 1\nlink.rate = '8mbit'\nscheduler.kind = 'fifo'\n"
                            "[class.a]\nmatch = 'udp dport 4000'\n[class.b]\nmatch = 'udp'\n");
    lx_classifier *classifier;
    uint8_t packet[28] = {0x45, [9] = 17, [22] = 0x0f, [23] = 0xa0};
    uint32_t class_id = 9;
    IS(LX_OK, lx_classifier_new(plan, &classifier, &error));
    lx_plan_free(plan);
    IS(LX_OK, lx_classify(classifier, packet, sizeof packet, &class_id, &error));
    CHECK(class_id == 0);
    packet[23] = 0xa1;
    IS(LX_OK, lx_classify(classifier, packet, sizeof packet, &class_id, &error));
    CHECK(class_id == 1);
    /* Cut short before the ports, then within the header. */
    packet[23] = 0xa0;
    IS(LX_OK, lx_classify(classifier, packet, 22, &class_id, &error));
    CHECK(class_id == 1);
    IS(LX_NONE, lx_classify(classifier, packet, 19, &class_id, &error));
    packet[9] = 6;
    IS(LX_NONE, lx_classify(classifier, packet, sizeof packet, &class_id, &error));
    IS(LX_NONE, lx_classify(classifier, NULL, 0, &class_id, &error));
    CHECK(class_id == 1);
    IS(LX_ERR_NULL, lx_classify(classifier, NULL, 20, &class_id, &error));
    IS(LX_ERR_NULL, lx_classify(classifier, packet, 20, NULL, &error));
    IS(LX_ERR_ARGUMENT, lx_classify(classifier, packet, SIZE_MAX, &class_id, &error));
    lx_classifier_free(classifier);
}

int main(void) {
    lx_plan *plan = plan_of(
        "version = 1\nlink.rate = '8mbit'\nscheduler.kind = 'edf'\n[class.a]\ndeadline = '9ms'\n"
        "police = 'demote'\narrival = { bucket = '1500b', rate = '1mbit' }\n"
        "[class.b]\ndeadline = '9ms'\npolice = 'drop'\n"
        "arrival = { bucket = '1500b', rate = '1mbit' }\n");
    lx_policer *policer;
    lx_pacer *pacer;
    lx_packet packet = packet_of(0, 1000, 0);
    uint32_t entry = 9;
    uint64_t value = 0;
    uint64_t from = 0;
    IS(LX_OK, lx_policer_new(plan, &policer, &error));
    IS(LX_OK, lx_police(policer, 0, &packet, &entry, &error));
    CHECK(entry == LX_CONFORMING && packet.demoted == 0);
    IS(LX_OK, lx_police(policer, 0, &packet, &entry, &error));
    CHECK(entry == LX_NONCONFORMING && packet.demoted == 1);
    packet = packet_of(1, 1000, 0);
    IS(LX_OK, lx_police(policer, 0, &packet, &entry, &error));
    IS(LX_OK, lx_police(policer, 3999999, &packet, &entry, &error));
    CHECK(entry == LX_ENTRY_REFUSED && packet.demoted == 0);
    IS(LX_OK, lx_police(policer, 4000000, &packet, &entry, &error));
    CHECK(entry == LX_CONFORMING);
    IS(LX_OK, lx_policer_nonconforming(policer, 1, &value, &error));
    CHECK(value == 1);
    IS(LX_ERR_ARGUMENT, lx_policer_nonconforming(policer, 2, &value, &error));
    IS(LX_ERR_TIME, lx_police(policer, 1, &packet, &entry, &error));
    IS(LX_ERR_NULL, lx_police(policer, 4000000, &packet, NULL, &error));
    classifying();
    lx_policer_free(policer);
    lx_plan_free(plan);

    IS(LX_ERR_ARGUMENT, lx_pacer_new(0, 0, &pacer, &error));
    IS(LX_OK, lx_pacer_new(3000000000u, 10, &pacer, &error));
    /* Three packets of a byte at 3 Gbit/s take 8 ns: rounding does not add up. */
    for (entry = 0; entry < 3; entry++) {
        IS(LX_OK, lx_pacer_start(pacer, 0, value, 1, &from, &value, &error));
    }
    CHECK(value == 9 || value == 8);
    IS(LX_OK, lx_pacer_free_at(pacer, &from, &error));
    CHECK(from == value);
    IS(LX_ERR_TIME, lx_pacer_start(pacer, 0, value - 1, 1, NULL, NULL, &error));
    IS(LX_OK, lx_pacer_set_rate(pacer, 8000000, &error));
    IS(LX_OK, lx_pacer_start(pacer, 0, 1000, 1, &from, &value, &error));
    CHECK(from == 990 && value == 1990);
    lx_pacer_free(pacer);
    return 0;
}
