/* Trouble made on purpose, and the pace of copies: words between blanks, in the file `faults` of
 * the state folder and in the environment.
 *
 *     bandwidth=BYTES   delay=SECONDS   WHAT:GLOB   WHAT:GLOB:COUNT   WHAT:GLOB:@NTH
 *
 * WHAT is hang, kill, short or an errno. An errno that a service returns at the call (EBUSY) is
 * returned by the call, any other (EIO) by the copy; call-EIO and copy-EBUSY reverse that.
 */
#include "emulator.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST 16384

struct rule {
    struct fault fault;
    int at_call;
    char glob[PATH_MAX];
    long first, last; /* which of the hits, counted from 1 */
};

static const struct {
    const char *name;
    int error, at_call;
} errors[] = {
    {"EACCES", EACCES, 0},   {"EAGAIN", EAGAIN, 1}, {"EALREADY", EALREADY, 1},
    {"EBUSY", EBUSY, 1},     {"EDQUOT", EDQUOT, 0}, {"EFBIG", EFBIG, 0},
    {"EINTR", EINTR, 1},     {"EINVAL", EINVAL, 1}, {"EIO", EIO, 0},
    {"ENOBUFS", ENOBUFS, 1}, {"ENODATA", ENODATA, 1}, {"ENOENT", ENOENT, 0},
    {"ENOMEM", ENOMEM, 1},   {"ENOSPC", ENOSPC, 0}, {"EPERM", EPERM, 0},
    {"EROFS", EROFS, 0},     {"ESTALE", ESTALE, 0}, {"ETIMEDOUT", ETIMEDOUT, 1},
};

static int meaning(const char *what, struct rule *rule) {
    static const char *const troubles[] = {[HANG] = "hang", [KILL] = "kill", [SHORT] = "short"};
    int turned = !strncmp(what, "call-", 5) || !strncmp(what, "copy-", 5);
    for (enum trouble trouble = HANG; trouble <= SHORT; trouble++)
        if (!strcmp(what, troubles[trouble]))
            rule->fault.trouble = trouble;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (!strcmp(what + (turned ? 5 : 0), errors[i].name)) {
            rule->fault = (struct fault){FAIL, errors[i].error};
            rule->at_call = turned ? what[1] == 'a' : errors[i].at_call;
        }
    return rule->fault.trouble != NONE;
}

/* Read one word; 0 when it is not a rule. */
static int parse(const char *word, struct rule *rule) {
    char text[PATH_MAX], *rest = text, *end = NULL;
    if (snprintf(text, sizeof text, "%s", word) >= PATH_MAX)
        return 0;
    const char *what = strsep(&rest, ":"), *glob = strsep(&rest, ":");
    *rule = (struct rule){.first = 1, .last = LONG_MAX};
    if (!glob || !glob[0] || !meaning(what, rule))
        return 0;
    strcpy(rule->glob, glob);
    if (rest) {
        rule->last = strtol(rest + (rest[0] == '@'), &end, 10);
        rule->first = rest[0] == '@' ? rule->last : 1;
    }
    return rule->last > 0 && (!end || !end[0]);
}

/* The number of this hit of a rule, kept in the state folder. */
static long hit(const char *state, const char *word) {
    char name[40], path[PATH_MAX], text[24] = "";
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *at = word; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
    snprintf(name, sizeof name, "hits.%016llx", (unsigned long long)hash);
    mkdir(state, 0700); /* this may be the first call ever in the instance */
    int fd = join(path, state, name) ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return 1;
    while (flock(fd, LOCK_EX) && errno == EINTR)
        ;
    if (pread(fd, text, sizeof text - 1, 0) < 0)
        text[0] = '\0';
    long number = strtol(text, NULL, 10) + 1;
    int length = snprintf(text, sizeof text, "%ld", number);
    if (pwrite(fd, text, (size_t)length, 0) != length)
        number = 1;
    flock(fd, LOCK_UN);
    close(fd);
    return number;
}

/* All words: those of the environment, then those of the file. */
static void words_of(const char *state, char *text) {
    char path[PATH_MAX];
    const char *given = getenv("DW_EMULATOR_FAULTS");
    size_t size = (size_t)snprintf(text, LONGEST / 2, "%s ", given ? given : "");
    if (size >= LONGEST / 2)
        size = LONGEST / 2 - 1;
    int fd = join(path, state, "faults") ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t more = read(fd, text + size, LONGEST - size - 1);
    text[size + (more > 0 ? (size_t)more : 0)] = '\0';
    close(fd);
}

/* The trouble meant for the whole path of a DW file, at the call or in the copy. A word that is
 * not a rule fails every call with EINVAL: a test with a misspelt fault must not pass. */
struct fault fault_of(const char *state, const char *path, int at_call) {
    char text[LONGEST], *rest;
    struct rule rule;
    words_of(state, text);
    for (char *word = strtok_r(text, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
        if (!strncmp(word, "bandwidth=", 10) || !strncmp(word, "delay=", 6))
            continue;
        if (!parse(word, &rule))
            return (struct fault){FAIL, EINVAL};
        if (rule.at_call != at_call || fnmatch(rule.glob, path, 0))
            continue;
        if (rule.last == LONG_MAX)
            return rule.fault;
        long number = hit(state, word);
        if (number >= rule.first && number <= rule.last)
            return rule.fault;
    }
    return (struct fault){NONE, 0};
}

/* "bandwidth" or "delay": from its variable, else from the words; 0 when not given. */
double setting_of(const char *state, const char *name, const char *variable) {
    char text[LONGEST], *rest;
    const char *given = getenv(variable);
    size_t length = strlen(name);
    if (given)
        return atof(given);
    words_of(state, text);
    for (char *word = strtok_r(text, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest))
        if (!strncmp(word, name, length) && word[length] == '=')
            return atof(word + length + 1);
    return 0;
}

/* Replace the file; counting begins again. -EINVAL, and nothing is done, for a word that is none of
 * the above. */
int faults_write(const char *state, char **words) {
    struct rule rule;
    char path[PATH_MAX];
    for (char **word = words; *word; word++)
        if (strncmp(*word, "bandwidth=", 10) && strncmp(*word, "delay=", 6) && !parse(*word, &rule))
            return -EINVAL;
    int error = join(path, state, "faults");
    FILE *file = error ? NULL : fopen(path, "we");
    if (!file)
        return error ? error : -errno;
    for (char **word = words; *word; word++)
        fprintf(file, "%s\n", *word);
    if (fclose(file))
        return -errno;
    DIR *folder = opendir(state);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (!strncmp(entry->d_name, "hits.", 5))
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    return 0;
}
