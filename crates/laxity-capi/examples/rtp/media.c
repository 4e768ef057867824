#include "media.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fail(const char *where, const char *what) {
    fprintf(stderr, "%s: %s\n", where, what);
    exit(1);
}

void media_add(struct media *media, uint64_t at, uint32_t timestamp, const unsigned char *head,
               size_t head_length, const unsigned char *body, size_t body_length) {
    struct unit *unit;
    if (media->count == media->room) {
        media->room = media->room == 0 ? 64 : 2 * media->room;
        media->units = realloc(media->units, media->room * sizeof *media->units);
    }
    if (media->units == NULL) {
        fail("media", "there is no memory");
    }
    unit = &media->units[media->count++];
    unit->at = at;
    unit->timestamp = timestamp;
    unit->is_last = 0;
    unit->length = (uint32_t)(head_length + body_length);
    unit->bytes = malloc(head_length + body_length + 1);
    if (unit->bytes == NULL) {
        fail("media", "there is no memory");
    }
    if (head_length > 0) {
        memcpy(unit->bytes, head, head_length);
    }
    memcpy(unit->bytes + head_length, body, body_length);
}

unsigned char *file_read(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = NULL;
    size_t room = 0;
    *length = 0;
    if (file == NULL) {
        fail(path, "it cannot be opened");
    }
    do {
        room += 1 << 16;
        bytes = realloc(bytes, room);
        if (bytes == NULL) {
            fail(path, "there is no memory for it");
        }
        *length += fread(bytes + *length, 1, room - *length, file);
    } while (*length == room);
    if (ferror(file)) {
        fail(path, "it cannot be read");
    }
    fclose(file);
    return bytes;
}

void media_free(struct media *media) {
    size_t index;
    for (index = 0; index < media->count; index++) {
        free(media->units[index].bytes);
    }
    free(media->units);
    memset(media, 0, sizeof *media);
}
