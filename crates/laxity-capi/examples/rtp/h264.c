/* Annex B of H.264: start codes before NAL units, which become single NAL unit packets or fragments
 * (FU-A) of RFC 6184 sections 5.6 and 5.8. */
#include <stdlib.h>

#include "media.h"

enum { SLICE = 1, IDR_SLICE = 5, SEI = 6, DELIMITER = 9, FU_A = 28 };

/* Behind the next start code; more than `length` if there is none. */
static size_t after_start_code(const unsigned char *bytes, size_t length, size_t at) {
    for (; at + 3 <= length; at++) {
        if (bytes[at] == 0 && bytes[at + 1] == 0 && bytes[at + 2] == 1) {
            return at + 3;
        }
    }
    return length + 1;
}

/* Cuts a NAL unit into payloads. */
static void take(struct media *media, uint64_t at, uint32_t timestamp, const unsigned char *unit,
                 size_t length) {
    size_t from;
    if (length <= LONGEST_PAYLOAD) {
        media_add(media, at, timestamp, NULL, 0, unit, length);
        return;
    }
    for (from = 1; from < length; from += LONGEST_PAYLOAD - 2) {
        size_t left = length - from;
        int is_end = left <= LONGEST_PAYLOAD - 2;
        unsigned char head[2];
        head[0] = (unsigned char)((unit[0] & 0xe0) | FU_A);
        head[1] = (unsigned char)((from == 1 ? 0x80 : 0) | (is_end ? 0x40 : 0) | (unit[0] & 31));
        media_add(media, at, timestamp, head, 2, unit + from, is_end ? left : LONGEST_PAYLOAD - 2);
    }
}

struct media h264_read(const char *path, uint32_t frames_per_second) {
    struct media media = {0};
    size_t length;
    unsigned char *bytes = file_read(path, &length);
    size_t from = after_start_code(bytes, length, 0);
    uint64_t frame = 0;
    /* Whether the current access unit has a slice, after which another one may begin. */
    int has_slice = 0;
    while (from < length) {
        size_t next = after_start_code(bytes, length, from);
        size_t end = next <= length ? next - 3 : length;
        const unsigned char *unit = bytes + from;
        unsigned type = unit[0] & 31;
        int is_slice = type >= SLICE && type <= IDR_SLICE;
        /* A slice whose first macroblock is number 0 has a 1 as its first bit (section 7.3.3). */
        int may_begin =
            is_slice ? end - from > 1 && unit[1] >> 7 : type >= SEI && type <= DELIMITER;
        while (end > from && bytes[end - 1] == 0) {
            end--;
        }
        if (has_slice && may_begin) {
            media.units[media.count - 1].is_last = 1;
            frame++;
            has_slice = 0;
        }
        has_slice |= is_slice;
        if (end > from) {
            take(&media, frame * 1000000000 / frames_per_second,
                 (uint32_t)(frame * 90000 / frames_per_second), unit, end - from);
        }
        from = next;
    }
    free(bytes);
    if (!has_slice) {
        fail(path, "it has no picture: an Annex B file of H.264 is read");
    }
    media.units[media.count - 1].is_last = 1;
    media.duration = (frame + 1) * 1000000000 / frames_per_second;
    media.timestamps = (uint32_t)((frame + 1) * 90000 / frames_per_second);
    return media;
}
