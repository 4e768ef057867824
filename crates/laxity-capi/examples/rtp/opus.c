/* Ogg Opus: pages (RFC 3533 section 6) hold packets (RFC 7845), each the payload of a datagram
 * (RFC 7587 section 4.2). */
#include <stdlib.h>
#include <string.h>

#include "media.h"

#define PAGE_HEADER 27

/* Ticks of 48 kHz that a packet lasts (RFC 6716 section 3.1); 0 if it is none. */
static uint32_t duration(const unsigned char *packet, size_t length) {
    static const uint32_t silk[] = {480, 960, 1920, 2880};
    unsigned configuration;
    uint32_t frame;
    uint32_t frames;
    if (length == 0) {
        return 0;
    }
    configuration = packet[0] >> 3;
    if (configuration < 12) {
        frame = silk[configuration & 3];
    } else if (configuration < 16) {
        frame = 480u << (configuration & 1);
    } else {
        frame = 120u << (configuration & 3);
    }
    switch (packet[0] & 3) {
    case 0:
        frames = 1;
        break;
    case 3:
        frames = length > 1 ? packet[1] & 63u : 0;
        break;
    default:
        frames = 2;
    }
    return frame * frames;
}

/* Takes a packet, the first two of which are headers. */
static void take(const char *path, struct media *media, int number, const unsigned char *packet,
                 size_t length) {
    uint32_t ticks = duration(packet, length);
    if (number == 0 && (length < 8 || memcmp(packet, "OpusHead", 8) != 0)) {
        fail(path, "its first packet is no OpusHead: an Ogg file of one stream of Opus is read");
    }
    if (number < 2) {
        return;
    }
    if (ticks == 0 || length > LONGEST_PAYLOAD) {
        fail(path, "a packet is no packet of Opus, or longer than 1200 bytes");
    }
    media_add(media, media->duration, media->timestamps, NULL, 0, packet, length);
    media->timestamps += ticks;
    media->duration += (uint64_t)ticks * 1000000 / 48;
}

struct media opus_read(const char *path) {
    struct media media = {0};
    size_t length;
    unsigned char *bytes = file_read(path, &length);
    /* A packet may begin on one page and end on the next. */
    unsigned char *packet = malloc(length + 1);
    size_t held = 0;
    int number = 0;
    size_t at = 0;
    if (packet == NULL) {
        fail(path, "there is no memory for it");
    }
    while (at < length) {
        const unsigned char *page = bytes + at;
        const unsigned char *body;
        size_t segments = length - at < PAGE_HEADER ? 0 : page[PAGE_HEADER - 1];
        size_t segment;
        if (length - at < PAGE_HEADER + segments || memcmp(page, "OggS", 4) != 0) {
            fail(path, "a page is cut off or no page of Ogg");
        }
        body = page + PAGE_HEADER + segments;
        for (segment = 0; segment < segments; segment++) {
            size_t part = page[PAGE_HEADER + segment];
            if (part > (size_t)(bytes + length - body)) {
                fail(path, "a page is cut off");
            }
            memcpy(packet + held, body, part);
            held += part;
            body += part;
            if (part < 255) {
                take(path, &media, number++, packet, held);
                held = 0;
            }
        }
        at = (size_t)(body - bytes);
    }
    free(packet);
    free(bytes);
    if (media.count == 0) {
        fail(path, "it has no packet of Opus");
    }
    return media;
}
