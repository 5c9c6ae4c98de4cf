/* The state of each stage, on disk: one small file per staged file, named by its key.
 *
 * "S000 d 17\0<DW path>\0<PFS path>\0": S is the state, 000 the errno of a failed stage, d the
 * direction, 17 the job. A record is put in place by rename. Its first four bytes are then changed
 * in place by the copier, which holds the file open: when the stage is terminated the record is
 * unlinked, and what the copier still writes goes nowhere.
 */
#include "emulator.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Open the state for one change by one process. Returns a descriptor; the state folder is made. */
int state_lock(const struct place *place) {
    char path[PATH_MAX];
    int error = join(path, place->state, "lock");
    if (error)
        return error;
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 && errno == ENOENT) {
        if (mkdir(place->state, 0700) && errno != EEXIST)
            return -errno;
        lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }
    if (lock < 0)
        return -errno;
    while (flock(lock, LOCK_EX))
        if (errno != EINTR) {
            error = -errno;
            close(lock);
            return error;
        }
    return lock;
}

/* Unlocked by name: a copy of the descriptor may live in a process that another thread forked. */
void state_unlock(int lock) {
    flock(lock, LOCK_UN);
    close(lock);
}

/* The number of the next job, counted in the lock file itself. */
unsigned long long state_count(int lock) {
    char text[24] = "";
    if (pread(lock, text, sizeof text - 1, 0) < 0)
        text[0] = '\0';
    unsigned long long number = strtoull(text, NULL, 10) + 1;
    int length = snprintf(text, sizeof text, "%020llu", number);
    return pwrite(lock, text, (size_t)length, 0) == length ? number : 0;
}

int record_parse(int fd, struct record *record) {
    char text[2 * PATH_MAX + 64];
    ssize_t size = pread(fd, text, sizeof text - 1, 0);
    if (size < 0)
        return -errno;
    text[size] = '\0';
    if (sscanf(text, "%c%d %c %llu", &record->state, &record->error, &record->direction,
               &record->job) != 4)
        return -EIO;
    const char *dw = text + strlen(text) + 1;
    const char *pfs = dw < text + size ? dw + strlen(dw) + 1 : dw;
    if (pfs >= text + size || strlen(dw) >= PATH_MAX || strlen(pfs) >= PATH_MAX)
        return -EIO;
    strcpy(record->dw, dw);
    strcpy(record->pfs, pfs);
    return 0;
}

static int once(const struct place *place, const char *key, struct record *record) {
    char path[PATH_MAX];
    int error = join(path, place->state, key);
    if (error)
        return error;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? -EINVAL : -errno;
    error = record_parse(fd, record);
    close(fd);
    return error;
}

/* The state of a stage: -EINVAL when none was started. A copier that died has failed its files, and
 * what the workload manager carried out is complete. */
int record_read(const struct place *place, const char *key, struct record *record) {
    int error = once(place, key, record);
    if (!error && record->state == PENDING && !job_alive(place->state, record->job)) {
        /* Read again: the copier may have finished in between. */
        error = once(place, key, record);
        if (!error && record->state == PENDING && !job_alive(place->state, record->job)) {
            record->state = FAILED;
            record->error = EIO;
        }
    }
    if (!error && record->state == DEFERRED && !deferred_waits(place, key)) {
        record->state = access(record->pfs, F_OK) ? FAILED : COMPLETE;
        record->error = record->state == FAILED ? EIO : 0;
    }
    return error;
}

/* The record of a path: -ENOENT when it is absent, -EINVAL when no stage was started. */
int stage_of(const char *path, struct place *place, char key[KEY_SIZE], struct record *record) {
    int error = place_of(path, 0, place);
    if (!error)
        error = key_of(AT_FDCWD, place->path, key);
    return error ? error : record_read(place, key, record);
}

/* Put a record in place, over an older one of that file. Needs the lock. */
int record_write(const struct place *place, const char *key, const struct record *record) {
    char text[2 * PATH_MAX + 64], path[PATH_MAX], next[PATH_MAX];
    int error = join(path, place->state, key);
    if (!error)
        error = join(next, place->state, "next");
    if (error)
        return error;
    int size = snprintf(text, sizeof text, "%c%03d %c %llu%c%s%c%s%c", record->state, record->error,
                        record->direction, record->job, 0, record->dw, 0, record->pfs, 0);
    int fd = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    ssize_t done = write(fd, text, (size_t)size);
    error = done == size ? 0 : done < 0 ? -errno : -ENOSPC;
    close(fd);
    if (!error && rename(next, path))
        error = -errno;
    return error;
}

/* Forget a stage; returns when no copier works on it any more. Needs the lock. */
int record_drop(const struct place *place, const char *key) {
    char path[PATH_MAX];
    int error = join(path, place->state, key);
    if (error)
        return error;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? -EINVAL : -errno;
    if (unlink(path))
        error = -errno;
    while (!error && flock(fd, LOCK_EX))
        if (errno != EINTR)
            error = -errno;
    close(fd);
    return error;
}

/* The copier's final state of a file. */
void record_close(int fd, char state, int error) {
    char head[8];
    snprintf(head, sizeof head, "%c%03d", state, error & 511);
    if (pwrite(fd, head, 4, 0) != 4)
        _exit(1); /* the record stays pending without a copier: a failed stage */
}

/* Remove the records of files that have gone: a long run stages and removes many. */
void record_sweep(const struct place *place) {
    DIR *folder = opendir(place->state);
    struct record record;
    char key[KEY_SIZE];
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        unsigned long long job;
        if (sscanf(entry->d_name, "job.%llu", &job) == 1) {
            if (!job_alive(place->state, job))
                job_remove(place->state, job);
        } else if (strchr(entry->d_name, '-') && !record_read(place, entry->d_name, &record) &&
                   (record.state == COMPLETE || record.state == FAILED) &&
                   (key_of(AT_FDCWD, record.dw, key) || strcmp(key, entry->d_name))) {
            int lock = state_lock(place);
            if (lock < 0)
                break;
            if (!record_read(place, entry->d_name, &record) &&
                (record.state == COMPLETE || record.state == FAILED))
                record_drop(place, entry->d_name);
            state_unlock(lock);
        }
    }
    if (folder)
        closedir(folder);
}
