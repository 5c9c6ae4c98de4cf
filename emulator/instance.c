/* Which instance holds a path, and where the state of that instance lies. */
#include "emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

const char dw_emulator[] = "Burstlens emulator of libdatawarp: no DataWarp hardware is involved";

/* "folder/name" into a buffer of PATH_MAX bytes. */
int join(char *into, const char *folder, const char *name) {
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    return snprintf(into, PATH_MAX, "%s%s%s", folder, slash, name) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int is_folder(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

/* The state folder of an instance. A burst-buffer service keeps an instance in N/data and looks for
 * deferred stages in N/deferred; N itself belongs to root there, so that the state goes below
 * deferred unless the service has made N/stages. */
static int state_of(const char *root, struct place *place) {
    const char *name = strrchr(root, '/');
    char base[PATH_MAX];
    snprintf(place->root, PATH_MAX, "%s", root);
    place->deferred[0] = '\0';
    if (strcmp(name, "/data") == 0) {
        snprintf(base, sizeof base, "%.*s", (int)(name - root), root);
        if (join(place->deferred, base[0] ? base : "/", "deferred") == 0 &&
            is_folder(place->deferred)) {
            if (join(place->state, base[0] ? base : "/", "stages") == 0 && is_folder(place->state))
                return 0;
            return join(place->state, place->deferred, ".stages");
        }
        place->deferred[0] = '\0';
    }
    int length = snprintf(place->state, PATH_MAX, "%s.stages", root);
    return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int holds(const char *root, const char *path) {
    size_t length = strlen(root);
    return strncmp(root, path, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* The longest of the folders that a job's environment names. */
static int named(const char *path, char *best) {
    static const char *const prefixes[] = {"DW_JOB_STRIPED=", "DW_JOB_PRIVATE=",
                                           "DW_PERSISTENT_STRIPED_"};
    char real[PATH_MAX];
    best[0] = '\0';
    for (char **entry = environ; entry && *entry; entry++)
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
            const char *value = strchr(*entry, '=');
            if (strncmp(*entry, prefixes[i], strlen(prefixes[i])) || !value || !value[1])
                continue;
            if (realpath(value + 1, real) && holds(real, path) && strlen(real) > strlen(best))
                strcpy(best, real);
        }
    return best[0] != '\0';
}

/* Where a path lies: -ENOENT when it is absent, -EINVAL when no instance holds it. */
int place_of(const char *path, int may_be_absent, struct place *place) {
    char root[PATH_MAX];
    if (!path || !path[0])
        return -EINVAL;
    if (!realpath(path, place->path)) {
        if (errno != ENOENT || !may_be_absent)
            return -errno;
        char parent[PATH_MAX], real[PATH_MAX];
        if (snprintf(parent, sizeof parent, "%s", path) >= PATH_MAX)
            return -ENAMETOOLONG;
        char *slash = strrchr(parent, '/');
        const char *name = slash ? path + (slash - parent) + 1 : path;
        if (slash)
            slash[slash == parent] = '\0';
        if (!name[0] || !realpath(slash ? parent : ".", real))
            return -ENOENT;
        int error = join(place->path, real, name);
        if (error)
            return error;
    }
    if (named(place->path, root))
        return state_of(root, place);
    strcpy(root, place->path);
    for (char *slash; root[1] != '\0'; *slash = '\0') {
        int error = state_of(root, place);
        if (!error && (place->deferred[0] || is_folder(place->state)))
            return 0;
        slash = strrchr(root, '/');
        if (slash == root)
            break;
    }
    return -EINVAL;
}

/* A file's key. With a path of "" the key of the open file itself. */
int key_of(int folder, const char *path, char key[KEY_SIZE]) {
    struct statx found;
    if (statx(folder, path, path[0] ? 0 : AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &found))
        return -errno;
    if (!(found.stx_mask & STATX_BTIME))
        memset(&found.stx_btime, 0, sizeof found.stx_btime);
    snprintf(key, KEY_SIZE, "%llx-%llx.%x", (unsigned long long)found.stx_ino,
             (unsigned long long)found.stx_btime.tv_sec, found.stx_btime.tv_nsec);
    return 0;
}

int dw_emulator_owns(const char *path) {
    struct place place;
    return place_of(path, 1, &place) == 0;
}
