/* Trouble made on purpose, and the pace of copies.
 *
 * Rules stand in $DW_EMULATOR_FAULTS and in the file `faults` of the state folder, parted by blanks:
 * WHAT:GLOB[:COUNT]. GLOB is matched with the whole path of the DW file. COUNT is how often the rule
 * holds, or @N for the N-th time alone. Settings stand there too: bandwidth=BYTES, delay=SECONDS.
 */
#include "emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define MOST 8192

static const struct {
    const char *name;
    int error, at_call;
} errors[] = {
    {"EAGAIN", EAGAIN, 1},       {"EALREADY", EALREADY, 1}, {"EBUSY", EBUSY, 1},
    {"EINTR", EINTR, 1},         {"EINVAL", EINVAL, 1},     {"ENOBUFS", ENOBUFS, 1},
    {"ETIMEDOUT", ETIMEDOUT, 1}, {"EACCES", EACCES, 0},     {"EDQUOT", EDQUOT, 0},
    {"EIO", EIO, 0},             {"ENOENT", ENOENT, 0},     {"ENODATA", ENODATA, 1},
    {"ENOSPC", ENOSPC, 0},       {"EPERM", EPERM, 0},       {"EROFS", EROFS, 0},
    {"ESTALE", ESTALE, 0},
};

/* What the state folder and then the environment say, in one text. */
static void rules(const char *state, const char *variable, char text[MOST]) {
    char path[PATH_MAX];
    size_t size = 0;
    FILE *file = join(path, state, "faults") ? NULL : fopen(path, "re");
    if (file) {
        size = fread(text, 1, MOST / 2, file);
        fclose(file);
    }
    const char *more = variable ? getenv(variable) : NULL;
    snprintf(text + size, MOST - size, " %s", more ? more : "");
}

static int meaning(const char *what, int at_call, struct fault *fault) {
    int forced = strncmp(what, "call-", 5) == 0; /* call-EIO: at the call all the same */
    what += forced ? 5 : 0;
    *fault = (struct fault){NONE, 0};
    if (!at_call && strcmp(what, "hang") == 0)
        fault->trouble = HANG;
    else if (!at_call && strcmp(what, "kill") == 0)
        fault->trouble = KILL;
    else if (!at_call && strcmp(what, "short") == 0)
        fault->trouble = SHORT;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(what, errors[i].name) == 0 && (errors[i].at_call || forced) == at_call)
            *fault = (struct fault){FAIL, errors[i].error};
    return fault->trouble != NONE;
}

/* Count one more match of a rule; whether it holds this time. */
static int holds(const char *state, const char *rule, const char *count) {
    char path[PATH_MAX], name[32], text[16] = "";
    unsigned long hash = 5381;
    if (!count)
        return 1;
    for (const char *at = rule; *at; at++)
        hash = hash * 33 + (unsigned char)*at;
    snprintf(name, sizeof name, "fault.%lx", hash);
    int fd = join(path, state, name) ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return 1;
    while (flock(fd, LOCK_EX) && errno == EINTR)
        ;
    long times = pread(fd, text, sizeof text - 1, 0) > 0 ? strtol(text, NULL, 10) + 1 : 1;
    int length = snprintf(text, sizeof text, "%ld\n", times);
    if (pwrite(fd, text, (size_t)length, 0) != length)
        times = 0;
    close(fd);
    return count[0] == '@' ? times == strtol(count + 1, NULL, 10) : times <= strtol(count, NULL, 10);
}

/* What is to go wrong with the stage of a DW file: at the call that starts it, or in the copy. */
struct fault fault_of(const struct place *place, const char *path, int at_call) {
    char text[MOST], *next = text;
    struct fault fault = {NONE, 0};
    rules(place->state, "DW_EMULATOR_FAULTS", text);
    for (char *rule; (rule = strsep(&next, " \t\n"));) {
        char copy[PATH_MAX], *parts = copy;
        if (snprintf(copy, sizeof copy, "%s", rule) >= PATH_MAX)
            continue;
        const char *what = strsep(&parts, ":"), *glob = strsep(&parts, ":");
        if (glob && meaning(what, at_call, &fault) && fnmatch(glob, path, 0) == 0 &&
            holds(place->state, rule, parts))
            return fault;
    }
    return (struct fault){NONE, 0};
}

/* A setting: `name=value` in the state folder, or the variable's value; 0 where there is none. */
double setting_of(const char *state, const char *name, const char *variable) {
    char text[MOST], *next = text;
    size_t length = strlen(name);
    const char *value = getenv(variable);
    double found = value ? strtod(value, NULL) : 0.0;
    rules(state, NULL, text);
    for (char *word; (word = strsep(&next, " \t\n"));)
        if (strncmp(word, name, length) == 0 && word[length] == '=')
            found = strtod(word + length + 1, NULL);
    return found < 0 ? 0 : found;
}

/* Put rules and settings in place of those of the state folder; counting begins anew. */
int faults_write(const char *state, char **words) {
    char path[PATH_MAX];
    int error = join(path, state, "faults");
    if (error)
        return error;
    FILE *file = fopen(path, "we");
    if (!file)
        return -errno;
    for (; *words; words++)
        fprintf(file, "%s\n", *words);
    return fclose(file) ? -errno : 0;
}
