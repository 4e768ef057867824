/* Options of the form `--name value`. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdlib.h>
#include <string.h>

#include "media.h"

/* The value of an option, or one that counts without it. */
static inline const char *option(int count, char **arguments, const char *name,
                                 const char *otherwise) {
    int index;
    for (index = 1; index + 1 < count; index += 2) {
        if (strcmp(arguments[index], name) == 0) {
            return arguments[index + 1];
        }
    }
    return otherwise;
}

/* The same as a number from `least` to `most`. */
static inline uint64_t number_option(int count, char **arguments, const char *name,
                                     uint64_t otherwise, uint64_t least, uint64_t most) {
    const char *text = option(count, arguments, name, NULL);
    char *end = NULL;
    uint64_t number = text == NULL ? otherwise : strtoull(text, &end, 10);
    if ((text != NULL && (*text < '0' || *text > '9' || *end != 0)) || number < least ||
        number > most) {
        fail(name, "this value is no number, too small or too large");
    }
    return number;
}

/* Refuses what is no option of the list, which ends with NULL. */
static inline void check_options(int count, char **arguments, const char *const *names,
                                 const char *usage) {
    int index;
    for (index = 1; index < count; index += 2) {
        const char *const *name = names;
        while (*name != NULL && strcmp(arguments[index], *name) != 0) {
            name++;
        }
        if (*name == NULL || index + 1 == count) {
            fail(arguments[index], usage);
        }
    }
}

#endif
