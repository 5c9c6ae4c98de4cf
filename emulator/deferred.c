/* Stages at the end of a job, handed to the workload manager as one JSON file each:
 * {"source": path inside the instance, "destination": absolute path}. It removes each file that it
 * has carried out. Where there is no such service the record alone keeps the stage, and
 * `dw-emulator data-out` carries it out.
 */
#include "emulator.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int request(char *path, const struct place *place, const char *key, const char *suffix) {
    char name[KEY_SIZE + 8];
    snprintf(name, sizeof name, "%s.%s", key, suffix);
    return join(path, place->deferred, name);
}

/* How many bytes of UTF-8 begin here, and the character; 0 where they are none. */
static int utf8(const unsigned char *text, unsigned int *character) {
    static const unsigned int least[] = {0, 0, 0x80, 0x800, 0x10000};
    int length = text[0] < 0x80 ? 1 : text[0] >> 5 == 6 ? 2 : text[0] >> 4 == 14 ? 3 : 4;
    if (length == 4 && text[0] >> 3 != 30)
        return 0;
    *character = length == 1 ? text[0] : text[0] & (0xffu >> (length + 1));
    for (int i = 1; i < length; i++) {
        if (text[i] >> 6 != 2)
            return 0;
        *character = *character << 6 | (text[i] & 0x3fu);
    }
    int surrogate = *character >= 0xd800 && *character < 0xe000;
    return *character < least[length] || *character > 0x10ffff || surrogate ? 0 : length;
}

/* A JSON string in ASCII. A byte that is not UTF-8 becomes U+DC00 + byte, as Python reads it. */
static void quote(FILE *file, const char *text) {
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        unsigned int character;
        int length = utf8(at, &character);
        if (!length) {
            character = 0xdc00 + *at;
            length = 1;
        }
        at += length;
        if (character >= 0x10000)
            fprintf(file, "\\u%04x\\u%04x", 0xd800 + ((character - 0x10000) >> 10),
                    0xdc00 + (character & 0x3ff));
        else if (character < 0x20 || character > 0x7e)
            fprintf(file, "\\u%04x", character);
        else
            fprintf(file, character == '"' || character == '\\' ? "\\%c" : "%c", (int)character);
    }
    fputc('"', file);
}

int deferred_write(const struct place *place, const char *key, const char *dw, const char *pfs) {
    char path[PATH_MAX], next[PATH_MAX];
    if (!place->deferred[0])
        return 0;
    int error = request(path, place, key, "json");
    if (!error)
        error = request(next, place, key, "next");
    if (error)
        return error;
    FILE *file = fopen(next, "we");
    if (!file)
        return -errno;
    fputs("{\"source\": ", file);
    quote(file, dw + strlen(place->root) + 1);
    fputs(", \"destination\": ", file);
    quote(file, pfs);
    fputs("}\n", file);
    int bad = ferror(file);
    if (fclose(file) || bad)
        return -ENOSPC;
    return rename(next, path) ? -errno : 0;
}

int deferred_waits(const struct place *place, const char *key) {
    char path[PATH_MAX];
    return !place->deferred[0] || (!request(path, place, key, "json") && !access(path, F_OK));
}

void deferred_drop(const struct place *place, const char *key) {
    char path[PATH_MAX];
    if (place->deferred[0] && !request(path, place, key, "json"))
        unlink(path);
}
