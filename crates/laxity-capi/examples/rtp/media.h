/* Media as payloads of RTP, read from files. */
#ifndef MEDIA_H
#define MEDIA_H

#include <stddef.h>
#include <stdint.h>

/* The most bytes of a payload, so that no datagram is cut to pieces on its way. */
#define LONGEST_PAYLOAD 1200

/* A payload of RTP. */
struct unit {
    /* When it is to be sent, in ns from the beginning. */
    uint64_t at;
    /* The same on the clock of RTP. */
    uint32_t timestamp;
    uint32_t length;
    unsigned char *bytes;
    /* The last one of a frame. */
    int is_last;
};

/* The payloads of a file. */
struct media {
    struct unit *units;
    size_t count;
    size_t room;
    /* How long it lasts, in ns and on the clock of RTP. */
    uint64_t duration;
    uint32_t timestamps;
};

/* Ends the program: what is wrong where, and what is accepted. */
void fail(const char *where, const char *what);

/* Adds a payload of a head and a body, which is copied. */
void media_add(struct media *media, uint64_t at, uint32_t timestamp, const unsigned char *head,
               size_t head_length, const unsigned char *body, size_t body_length);

/* Reads a whole file, which is freed by the caller. */
unsigned char *file_read(const char *path, size_t *length);

/* The packets of an Ogg Opus file: RFC 3533, 7845, 7587. The clock has 48 000 ticks a second. */
struct media opus_read(const char *path);

/* The access units of an Annex B file of H.264 without pictures that are shown out of order: RFC
 * 6184. The clock has 90 000 ticks a second. */
struct media h264_read(const char *path, uint32_t frames_per_second);

void media_free(struct media *media);

#endif
