/* Streams an Ogg Opus and an H.264 file to receivers by RTP, each at ports of its own:
 *   rtp_server --audio a.opus --video v.h264 --receivers 500 --port 20000 --rate 200000000
 * One paced sink sends everything: audio by its deadline before video, or as a plan says whose
 * classes are `audio` and `video` and whose flows are receivers. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "laxity.h"
#include "media.h"
#include "options.h"
#include "rtp.h"

#define MILLISECOND 1000000u
#define USAGE                                                                                    \
    "the options are --audio FILE --video FILE --fps N --receivers N --host ADDRESS --port N "   \
    "--seconds N --rate BITS --plan FILE --under SCHEDULER --audio-due MS --video-due MS "       \
    "--spread MS --catch-up MS --seed N --sdp 1, each with a value"

enum kind { AUDIO, VIDEO, KINDS };

/* A kind of media, and how it is sent. */
struct track {
    struct media media;
    uint32_t class_id;
    /* How long after its time a packet is due, in ms. */
    uint64_t due;
    /* Packets for each receiver. */
    uint32_t packets;
};

/* A packet for a receiver. */
struct event {
    uint64_t at;
    uint32_t receiver;
    uint32_t unit;
    uint32_t round;
    uint16_t sequence;
    uint8_t kind;
};

struct schedule {
    struct event *events;
    size_t count;
};

struct server {
    struct track tracks[KINDS];
    struct schedule schedule;
    uint32_t receivers;
    struct sockaddr_in to;
    lx_plan *plan;
    lx_udp_sink *sink;
    lx_udp_producer *producer;
    /* The sink's zero on the monotonic clock. */
    uint64_t zero;
    uint64_t refused;
};

/* Ends the program if a call has failed that has written its error there. */
static void must(lx_status status, lx_error **error) {
    if (status < 0) {
        fail(lx_status_name(status), lx_error_message(*error));
    }
}

/* What ffmpeg and others take to receive the streams of the first receiver. */
static void describe(const struct server *server) {
    char host[INET_ADDRSTRLEN];
    int port = ntohs(server->to.sin_port);
    inet_ntop(AF_INET, &server->to.sin_addr, host, sizeof host);
    printf("v=0\r\no=- 0 0 IN IP4 %s\r\ns=rtp_server\r\nc=IN IP4 %s\r\nt=0 0\r\n", host, host);
    if (server->tracks[AUDIO].media.count > 0) {
        printf("m=audio %d RTP/AVP %d\r\na=rtpmap:%d opus/48000/2\r\n", port, AUDIO_TYPE,
               AUDIO_TYPE);
    }
    if (server->tracks[VIDEO].media.count > 0) {
        printf("m=video %d RTP/AVP %d\r\na=rtpmap:%d H264/90000\r\n", port + VIDEO_PORT,
               VIDEO_TYPE, VIDEO_TYPE);
        printf("a=fmtp:%d packetization-mode=1\r\n", VIDEO_TYPE);
    }
}

static int earlier(const void *one, const void *other) {
    const struct event *a = one;
    const struct event *b = other;
    if (a->at != b->at) {
        return a->at < b->at ? -1 : 1;
    }
    if (a->receiver != b->receiver) {
        return a->receiver < b->receiver ? -1 : 1;
    }
    return a->kind != b->kind ? a->kind - b->kind : a->sequence - b->sequence;
}

/* All packets of a track for a receiver who begins at a time; files begin anew at their ends. */
static void plan_track(struct server *server, int kind, uint32_t receiver, uint64_t begin,
                       uint64_t length) {
    struct track *track = &server->tracks[kind];
    uint32_t packets = 0;
    uint32_t round;
    for (round = 0; track->media.count > 0; round++) {
        uint32_t unit;
        for (unit = 0; unit < track->media.count; unit++) {
            uint64_t at = round * track->media.duration + track->media.units[unit].at;
            struct event event = {0};
            if (at >= length || packets == UINT16_MAX) {
                track->packets = packets;
                return;
            }
            event.at = begin + at;
            event.receiver = receiver;
            event.unit = unit;
            event.round = round;
            event.sequence = (uint16_t)packets++;
            event.kind = (uint8_t)kind;
            if (server->schedule.events != NULL) {
                server->schedule.events[server->schedule.count] = event;
            }
            server->schedule.count++;
        }
    }
}

/* Receivers begin within `spread` at times that are drawn. */
static void plan_all(struct server *server, uint64_t length, uint64_t spread, uint64_t seed) {
    int turn;
    /* First it is counted how many there are. */
    for (turn = 0; turn < 2; turn++) {
        uint64_t random = seed * 0x9e3779b97f4a7c15u + 1;
        uint32_t receiver;
        if (turn == 1) {
            server->schedule.events = calloc(server->schedule.count, sizeof(struct event));
            if (server->schedule.events == NULL) {
                fail("--seconds", "there is no memory for so many packets");
            }
        }
        server->schedule.count = 0;
        for (receiver = 0; receiver < server->receivers; receiver++) {
            uint64_t begin = (random >> 16) % (spread + 1);
            int kind;
            /* Knuth's generator (The Art of Computer Programming 2, 3.3.4). */
            random = random * 6364136223846793005u + 1442695040888963407u;
            for (kind = 0; kind < KINDS; kind++) {
                plan_track(server, kind, receiver, begin, length);
            }
        }
    }
    qsort(server->schedule.events, server->schedule.count, sizeof(struct event), earlier);
}

static void start(struct server *server, uint64_t rate, uint64_t catch_up,
                  const char *scheduler) {
    lx_udp_settings settings = LX_INIT(lx_udp_settings);
    lx_error *error;
    uint64_t now = 0;
    settings.bits_per_second = rate;
    settings.catch_up = catch_up;
    settings.batch = MILLISECOND / 2;
    settings.ring = 1 << 14;
    settings.backlog = 1 << 18;
    settings.limit = 1 << 18;
    if (server->plan != NULL && scheduler != NULL) {
        lx_plan *under;
        must(lx_plan_under(server->plan, scheduler, &under, &error), &error);
        lx_plan_free(server->plan);
        server->plan = under;
    }
    must(lx_udp_sink_start(server->plan, 1, &settings, &server->sink, &error), &error);
    must(lx_udp_sink_producer(server->sink, &server->producer, &error), &error);
    must(lx_udp_sink_now(server->sink, &now, &error), &error);
    server->zero = monotonic_now() - now;
}

static void send_event(struct server *server, const struct event *event, uint64_t begin) {
    const struct track *track = &server->tracks[event->kind];
    const struct unit *unit = &track->media.units[event->unit];
    unsigned char bytes[RTP_HEADER + LONGEST_PAYLOAD];
    lx_datagram terms = LX_INIT(lx_datagram);
    lx_udp_datagram datagram = LX_INIT(lx_udp_datagram);
    struct sockaddr_in to = server->to;
    uint64_t due = begin + event->at + track->due * MILLISECOND;
    lx_error *error;
    lx_status status;
    rtp_header(bytes, event->kind == AUDIO ? AUDIO_TYPE : VIDEO_TYPE, unit->is_last,
               event->sequence, unit->timestamp + event->round * track->media.timestamps,
               2 * event->receiver + event->kind, due);
    memcpy(bytes + RTP_HEADER, unit->bytes, unit->length);
    to.sin_port = htons((uint16_t)(ntohs(to.sin_port) + PORTS_EACH * event->receiver +
                                   VIDEO_PORT * event->kind));
    terms.deadline = terms.expires = due - server->zero;
    datagram.bytes = bytes;
    datagram.length = RTP_HEADER + unit->length;
    datagram.to = &to;
    datagram.to_length = sizeof to;
    datagram.terms = &terms;
    datagram.class_id = track->class_id;
    datagram.flow = event->receiver;
    datagram.dscp = event->kind == AUDIO ? 46 : 34;
    status = lx_udp_send(server->producer, &datagram, LX_SEND_DROP, &error);
    must(status, &error);
    server->refused += status == LX_FULL;
}

static void send_all(struct server *server) {
    uint64_t begin = monotonic_now() + 100 * MILLISECOND;
    size_t index;
    for (index = 0; index < server->schedule.count; index++) {
        const struct event *event = &server->schedule.events[index];
        uint64_t at = begin + event->at;
        if (monotonic_now() < at) {
            struct timespec until;
            until.tv_sec = (time_t)(at / 1000000000);
            until.tv_nsec = (long)(at % 1000000000);
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        }
        send_event(server, event, begin);
    }
}

static void report(struct server *server) {
    lx_udp_statistics statistics = LX_INIT(lx_udp_statistics);
    lx_error *error;
    lx_udp_producer_free(server->producer);
    must(lx_udp_sink_shutdown(server->sink, &statistics, &error), &error);
    lx_udp_sink_free(server->sink);
    printf("packets for each receiver: %" PRIu32 " of audio, %" PRIu32 " of video\n",
           server->tracks[AUDIO].packets, server->tracks[VIDEO].packets);
    printf("sent %" PRIu64 ", dropped %" PRIu64 ", lost %" PRIu64 ", refused %" PRIu64 "\n",
           statistics.sent, statistics.dropped, statistics.lost, server->refused);
}

int main(int count, char **arguments) {
    static const char *const options[] = {
        "--audio", "--video", "--fps", "--receivers", "--host", "--port", "--seconds", "--rate",
        "--plan", "--under", "--audio-due", "--video-due", "--spread", "--catch-up", "--seed",
        "--sdp", NULL};
    struct server server = {0};
    const char *audio = option(count, arguments, "--audio", NULL);
    const char *video = option(count, arguments, "--video", NULL);
    const char *host = option(count, arguments, "--host", "127.0.0.1");
    const char *plan = option(count, arguments, "--plan", NULL);
    uint64_t fps = number_option(count, arguments, "--fps", 25, 1, 1000);
    uint64_t port = number_option(count, arguments, "--port", 20000, 1, 65535);
    uint64_t seconds = number_option(count, arguments, "--seconds", 10, 1, 3600);
    uint64_t rate = number_option(count, arguments, "--rate", 0, 0, 1000000000000);
    uint64_t spread = number_option(count, arguments, "--spread", 40, 0, 60000);
    uint64_t catch_up = number_option(count, arguments, "--catch-up", 10, 1, 60000);
    uint64_t seed = number_option(count, arguments, "--seed", 0, 0, UINT32_MAX);
    lx_error *error;
    int kind;
    check_options(count, arguments, options, USAGE);
    server.receivers = (uint32_t)number_option(count, arguments, "--receivers", 1, 1, 10000);
    server.tracks[AUDIO].due = number_option(count, arguments, "--audio-due", 60, 1, 60000);
    server.tracks[VIDEO].due = number_option(count, arguments, "--video-due", 200, 1, 60000);
    server.to.sin_family = AF_INET;
    server.to.sin_port = htons((uint16_t)port);
    if (port + PORTS_EACH * server.receivers > 65536) {
        fail("--port", "there are not enough ports from it on: each receiver takes 4");
    }
    if (inet_pton(AF_INET, host, &server.to.sin_addr) != 1) {
        fail("--host", "this is no address of IPv4");
    }
    if (audio == NULL && video == NULL) {
        fail("rtp_server", USAGE);
    }
    if (audio != NULL) {
        server.tracks[AUDIO].media = opus_read(audio);
    }
    if (video != NULL) {
        server.tracks[VIDEO].media = h264_read(video, (uint32_t)fps);
    }
    if (number_option(count, arguments, "--sdp", 0, 0, 1) == 1) {
        describe(&server);
    } else {
        if (plan != NULL) {
            must(lx_plan_read(plan, &server.plan, &error), &error);
        }
        for (kind = 0; kind < KINDS && server.plan != NULL; kind++) {
            const char *name = kind == AUDIO ? "audio" : "video";
            if (server.tracks[kind].media.count > 0 &&
                lx_plan_class(server.plan, name, &server.tracks[kind].class_id, NULL) != LX_OK) {
                fail(plan, "it has no class of the name of a track, audio or video");
            }
        }
        plan_all(&server, seconds * 1000000000, spread * MILLISECOND, seed);
        start(&server, rate, catch_up * MILLISECOND, option(count, arguments, "--under", NULL));
        send_all(&server);
        report(&server);
    }
    for (kind = 0; kind < KINDS; kind++) {
        media_free(&server.tracks[kind].media);
    }
    free(server.schedule.events);
    lx_plan_free(server.plan);
    return 0;
}
