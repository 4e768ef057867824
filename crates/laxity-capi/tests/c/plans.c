/* Plans and proofs, and the messages of what is none. */
#include "check.h"

static const char VOICE[] =
    "version = 1\nlink.rate = '10mbit'\nscheduler.kind = 'edf'\n"
    "[class.voice]\ndeadline = '5ms'\n"
    "arrival = { bucket = '300b', rate = '80kB/s', packet = '300b' }\n[class.web]\n";

static void values(void) {
    lx_plan *plan = plan_of(VOICE);
    lx_plan *other;
    lx_proof *proof;
    lx_admission admission;
    uint32_t count;
    uint32_t number;
    uint64_t value = 0;
    const char *text;
    IS(LX_OK, lx_plan_classes(plan, &count, &error));
    CHECK(count == 2);
    IS(LX_OK, lx_plan_class(plan, "web", &number, &error));
    CHECK(number == 1);
    IS(LX_NONE, lx_plan_class(plan, "mail", &number, &error));
    IS(LX_OK, lx_plan_class_name(plan, 0, &text, &error));
    CHECK(strcmp(text, "voice") == 0);
    IS(LX_NONE, lx_plan_class_name(plan, 2, &text, &error));
    IS(LX_OK, lx_plan_rate(plan, &value, &error));
    CHECK(value == 10000000);
    IS(LX_OK, lx_plan_check(plan, &proof, &error));
    IS(LX_OK, lx_proof_admission(proof, &admission, &error));
    CHECK(admission == LX_ADMITTED);
    IS(LX_OK, lx_proof_bound(proof, 0, &value, &error));
    /* A packet of the longest, and its own: (1500 + 300) bytes at 10 Mbit/s. */
    CHECK(value >= 240000 && value <= 5000000);
    IS(LX_NONE, lx_proof_bound(proof, 1, &value, &error));
    IS(LX_ERR_ARGUMENT, lx_proof_bound(proof, 2, &value, &error));
    IS(LX_OK, lx_proof_json(proof, &text, &error));
    CHECK(strstr(text, "\"admitted\": true") != NULL);
    IS(LX_OK, lx_proof_statement(proof, &text, &error));
    CHECK(text[0] != '\0');
    lx_proof_free(proof);

    IS(LX_OK, lx_plan_under(plan, "wf2q", &other, &error));
    IS(LX_OK, lx_plan_scheduler(other, &text, &error));
    CHECK(strcmp(text, "wf2q") == 0);
    lx_plan_free(other);
    IS(LX_ERR_ARGUMENT, lx_plan_under(plan, "best", &other, &error));
    CHECK(other == NULL);
    lx_plan_free(plan);

    plan = plan_of("version = 1\nlink.rate = '10mbit'\nscheduler.kind = 'edf'\n"
                   "class.voice = { deadline = '250us', "
                   "arrival = { bucket = '300b', rate = '80kB/s', packet = '300b' } }\n"
                   "class.web = {}");
    IS(LX_OK, lx_plan_check(plan, &proof, &error));
    IS(LX_OK, lx_proof_admission(proof, &admission, &error));
    CHECK(admission == LX_REFUSED);
    lx_proof_free(proof);
    lx_plan_free(plan);
}

static void messages(void) {
    lx_plan *plan = NULL;
    lx_error *error;
    const char bad[] = "version = 1\nlink.rate = '10'\n";
    CHECK(lx_plan_parse(bad, "bad.toml", NULL, &plan, &error) == LX_ERR_PLAN);
    CHECK(plan == NULL);
    CHECK(strncmp(lx_error_message(error), "bad.toml:2:", 11) == 0);
    CHECK(lx_error_line(error) == 2 && lx_error_column(error) > 1);
    lx_error_free(error);
    CHECK(lx_plan_read("no/such.toml", &plan, &error) == LX_ERR_FILE);
    CHECK(strstr(lx_error_message(error), "there is no such file") != NULL);
    CHECK(lx_error_line(error) == 0);
    lx_error_free(error);
    /* Without a place for it, there is no text and the same status. */
    CHECK(lx_plan_parse(bad, "bad.toml", NULL, &plan, NULL) == LX_ERR_PLAN);
    IS(LX_ERR_TEXT, lx_plan_parse("\xff", "bad.toml", NULL, &plan, &error));
    IS(LX_ERR_NULL, lx_plan_parse(NULL, "bad.toml", NULL, &plan, &error));
    IS(LX_ERR_NULL, lx_plan_parse(bad, NULL, NULL, &plan, &error));
    IS(LX_ERR_NULL, lx_plan_parse(bad, "bad.toml", NULL, NULL, &error));
    IS(LX_ERR_NULL, lx_plan_check(NULL, NULL, &error));
    IS(LX_ERR_NULL, lx_plan_read(NULL, &plan, &error));
    CHECK(lx_error_message(NULL) == NULL && lx_error_status(NULL) == LX_OK);
    lx_error_free(NULL);
    lx_plan_free(NULL);
    lx_proof_free(NULL);
    lx_text_free(NULL);
}

static void networks(void) {
    lx_plan *plan = plan_of(
        "version = 1\nlink.rate = '10mbit'\nscheduler.kind = 'fifo'\n"
        "network.ab = { between = ['a', 'b'] }\n[class.web]\n"
        "[[source]]\nclass = 'web'\nmodel = 'poisson'\npacket = '500b'\nrate = '10kB/s'\n"
        "path = ['a', 'b']\n");
    lx_scheduler *scheduler;
    lx_proof *proof;
    const char *json;
    IS(LX_ERR_UNSUPPORTED, lx_scheduler_new(plan, 1, &scheduler, &error));
    IS(LX_OK, lx_plan_check(plan, &proof, &error));
    IS(LX_OK, lx_proof_json(proof, &json, &error));
    CHECK(strstr(json, "\"links\"") != NULL || strstr(json, "\"outputs\"") != NULL);
    lx_proof_free(proof);
    lx_plan_free(plan);
}

int main(void) {
    CHECK(lx_abi_version() == LX_ABI_VERSION);
    CHECK(strcmp(lx_status_name(LX_ERR_PLAN), "plan") == 0);
    CHECK(strcmp(lx_status_name(12345), "unknown") == 0);
    CHECK(strcmp(lx_drop_reason_name(99), "unknown") == 0);
    CHECK(strcmp(lx_criterion_name(99), "unknown") == 0);
    values();
    messages();
    networks();
    return 0;
}
