/* Checks of the paths of a stage, before anything is started. */
#include "emulator.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -EINVAL where an instance holds the path: the other side of a stage is the file system. */
int check_pfs(const char *path) {
    struct place place;
    return place_of(path, 1, &place) == 0 ? -EINVAL : 0;
}

int absolute(const char *path, char *full) {
    char here[PATH_MAX];
    if (!path || !path[0])
        return -EINVAL;
    if (path[0] == '/')
        return strlen(path) < PATH_MAX ? (strcpy(full, path), 0) : -ENAMETOOLONG;
    return getcwd(here, sizeof here) ? join(full, here, path) : -errno;
}

int check_folder(const char *path) {
    struct stat found;
    if (stat(path, &found))
        return -errno;
    if (!S_ISDIR(found.st_mode))
        return -ENOTDIR;
    return access(path, W_OK | X_OK) ? -errno : 0;
}

/* A file to be written: it, or the folder it will be made in, must be writable. */
int check_target(const char *path) {
    struct stat found;
    char folder[PATH_MAX];
    if (stat(path, &found) == 0) {
        if (S_ISDIR(found.st_mode))
            return -EISDIR;
        return access(path, W_OK) ? -errno : 0;
    }
    if (errno != ENOENT)
        return -errno;
    strcpy(folder, path);
    char *slash = strrchr(folder, '/');
    if (!slash[1])
        return -EISDIR;
    slash[slash == folder] = '\0';
    return check_folder(folder);
}

int check_source(const char *path) {
    struct stat found;
    if (stat(path, &found))
        return -errno;
    if (S_ISDIR(found.st_mode))
        return -EISDIR;
    if (!S_ISREG(found.st_mode))
        return -EINVAL;
    return access(path, R_OK) ? -errno : 0;
}
