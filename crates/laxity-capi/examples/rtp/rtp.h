/* Headers of RTP (RFC 3550 section 5.1) with one extension (RFC 8285 section 4.2): when the packet
 * is due, in ns of this machine's monotonic clock, so that receivers count what is late. */
#ifndef RTP_H
#define RTP_H

#include <stdint.h>
#include <time.h>

#define RTP_HEADER 28
#define AUDIO_TYPE 96
#define VIDEO_TYPE 97
/* Where the extension's data begins. */
#define RTP_DUE 17

/* Each receiver has two pairs of ports: for audio and for video. */
#define PORTS_EACH 4
#define VIDEO_PORT 2

static inline uint64_t monotonic_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static inline void write_number(unsigned char *to, uint64_t number, int bytes) {
    while (bytes-- > 0) {
        to[bytes] = (unsigned char)number;
        number >>= 8;
    }
}

static inline uint64_t read_number(const unsigned char *from, int bytes) {
    uint64_t number = 0;
    while (bytes-- > 0) {
        number = number << 8 | *from++;
    }
    return number;
}

static inline void rtp_header(unsigned char *to, unsigned type, int is_marked, uint16_t sequence,
                              uint32_t timestamp, uint32_t source, uint64_t due) {
    to[0] = 0x90;
    to[1] = (unsigned char)(type | (is_marked ? 0x80 : 0));
    write_number(to + 2, sequence, 2);
    write_number(to + 4, timestamp, 4);
    write_number(to + 8, source, 4);
    write_number(to + 12, 0xbede0003, 4);
    /* Element 1 of eight bytes, and three bytes to fill the word. */
    to[16] = 0x17;
    write_number(to + RTP_DUE, due, 8);
    write_number(to + 25, 0, 3);
}

#endif
