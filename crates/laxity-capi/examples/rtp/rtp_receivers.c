/* Counts what many receivers of `rtp_server` get, until a line on its input says how much was sent:
 *   rtp_receivers --port 20000 --receivers 500 --window 4 --tolerance 1
 * The line is `AUDIO VIDEO`, the packets for each receiver. Of each kind it prints streams, packets
 * that came in time, that came late and that were lost, and the windows of so many consecutive
 * packets, counted from the first one, in which more than the tolerance were late or lost, with the
 * streams that have such windows. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "media.h"
#include "options.h"
#include "rtp.h"

#define USAGE "the options are --port N --receivers N --window N --tolerance N, each with a value"
#define KINDS 2
#define BATCH 32

enum fate { LOST, LATE, IN_TIME };

struct stream {
    int socket;
    unsigned kind;
    /* By sequence number, an `enum fate`. */
    unsigned char *fates;
};

struct totals {
    uint64_t streams, in_time, late, lost, windows, violated, streams_violated;
};

static int bound(uint16_t port) {
    struct sockaddr_in address = {0};
    int room = 1 << 20;
    int number = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (number < 0 || bind(number, (struct sockaddr *)&address, sizeof address) != 0) {
        fail("--port", strerror(errno));
    }
    setsockopt(number, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    return number;
}

/* Allows as many open files as the system lets. */
static void raise_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static struct stream *streams_open(uint64_t port, uint64_t receivers, int epoll) {
    struct stream *streams = calloc(KINDS * receivers, sizeof *streams);
    uint64_t index;
    if (streams == NULL) {
        fail("--receivers", "there is no memory for so many");
    }
    for (index = 0; index < KINDS * receivers; index++) {
        struct stream *stream = &streams[index];
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = stream};
        stream->kind = index % KINDS;
        stream->socket =
            bound((uint16_t)(port + index / KINDS * PORTS_EACH + stream->kind * VIDEO_PORT));
        stream->fates = calloc(1 << 16, 1);
        if (stream->fates == NULL || epoll_ctl(epoll, EPOLL_CTL_ADD, stream->socket, &event) != 0) {
            fail("--receivers", "there is no memory for so many");
        }
    }
    return streams;
}

/* Takes all datagrams that wait at a socket. */
static void take(struct stream *stream) {
    static unsigned char bytes[BATCH][RTP_HEADER];
    static struct iovec vectors[BATCH];
    static struct mmsghdr messages[BATCH];
    uint64_t now;
    int count;
    int index;
    for (index = 0; index < BATCH; index++) {
        vectors[index].iov_base = bytes[index];
        vectors[index].iov_len = RTP_HEADER;
        messages[index].msg_hdr.msg_iov = &vectors[index];
        messages[index].msg_hdr.msg_iovlen = 1;
    }
    do {
        count = recvmmsg(stream->socket, messages, BATCH, 0, NULL);
        now = monotonic_now();
        for (index = 0; index < count; index++) {
            const unsigned char *header = bytes[index];
            unsigned type = stream->kind == 0 ? AUDIO_TYPE : VIDEO_TYPE;
            if (messages[index].msg_len == RTP_HEADER && (header[1] & 0x7fu) == type) {
                uint64_t due = read_number(header + RTP_DUE, 8);
                stream->fates[read_number(header + 2, 2)] = now <= due ? IN_TIME : LATE;
            }
        }
    } while (count == BATCH);
}

static void count(struct totals *totals, const struct stream *stream, uint64_t packets,
                  uint64_t window, uint64_t tolerance) {
    uint64_t violated = 0;
    uint64_t missed = 0;
    uint64_t index;
    if (packets == 0) {
        return;
    }
    for (index = 0; index < packets; index++) {
        totals->in_time += stream->fates[index] == IN_TIME;
        totals->late += stream->fates[index] == LATE;
        totals->lost += stream->fates[index] == LOST;
        missed += stream->fates[index] != IN_TIME;
        if ((index + 1) % window == 0) {
            totals->windows++;
            violated += missed > tolerance;
            missed = 0;
        }
    }
    totals->streams++;
    totals->violated += violated;
    totals->streams_violated += violated > 0;
}

static void report(const struct stream *streams, uint64_t receivers, const uint64_t *packets,
                   uint64_t window, uint64_t tolerance) {
    struct totals totals[KINDS] = {0};
    uint64_t index;
    unsigned kind;
    for (index = 0; index < KINDS * receivers; index++) {
        kind = streams[index].kind;
        count(&totals[kind], &streams[index], packets[kind], window, tolerance);
    }
    for (kind = 0; kind < KINDS; kind++) {
        const struct totals *of = &totals[kind];
        printf("%s streams %" PRIu64 " in-time %" PRIu64 " late %" PRIu64 " lost %" PRIu64
               " windows %" PRIu64 " violated %" PRIu64 " of-streams %" PRIu64 "\n",
               kind == 0 ? "audio" : "video", of->streams, of->in_time, of->late, of->lost,
               of->windows, of->violated, of->streams_violated);
    }
}

int main(int argument_count, char **arguments) {
    static const char *const options[] = {"--port", "--receivers", "--window", "--tolerance", NULL};
    uint64_t receivers = number_option(argument_count, arguments, "--receivers", 1, 1, 10000);
    uint64_t port = number_option(argument_count, arguments, "--port", 20000, 1, 65535);
    uint64_t window = number_option(argument_count, arguments, "--window", 4, 1, 1 << 15);
    uint64_t tolerance = number_option(argument_count, arguments, "--tolerance", 1, 0, 1 << 15);
    uint64_t packets[KINDS] = {0, 0};
    struct epoll_event input = {.events = EPOLLIN, .data.ptr = NULL};
    struct epoll_event events[64];
    struct stream *streams;
    int epoll = epoll_create1(0);
    int is_over = 0;
    uint64_t index;
    check_options(argument_count, arguments, options, USAGE);
    if (port + PORTS_EACH * receivers > 65536) {
        fail("--port", "there are not enough ports from it on: each receiver takes 4");
    }
    /* A file is refused: it cannot be waited for. */
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &input) != 0) {
        fail("input", "it cannot be waited for: a pipe or a terminal can be");
    }
    raise_limit();
    streams = streams_open(port, receivers, epoll);
    puts("ready");
    fflush(stdout);
    while (!is_over) {
        int ready = epoll_wait(epoll, events, 64, -1);
        int turn;
        for (turn = 0; turn < ready; turn++) {
            if (events[turn].data.ptr != NULL) {
                take(events[turn].data.ptr);
                continue;
            }
            is_over = 1;
            if (scanf("%" SCNu64 " %" SCNu64, &packets[0], &packets[1]) != 2 ||
                packets[0] > UINT16_MAX || packets[1] > UINT16_MAX) {
                fail("input", "this is no line of two numbers up to 65535");
            }
        }
    }
    for (index = 0; index < KINDS * receivers; index++) {
        take(&streams[index]);
    }
    report(streams, receivers, packets, window, tolerance);
    for (index = 0; index < KINDS * receivers; index++) {
        close(streams[index].socket);
        free(streams[index].fates);
    }
    free(streams);
    close(epoll);
    return 0;
}
