/* The files of one call, in a job file, and the lock that shows whether the copier lives.
 *
 * The caller locks byte 0 of the job file and hands the descriptor to the copier, which locks
 * byte 1 through a descriptor of its own and unlocks byte 0: there is no moment without a lock, and
 * none is left with a process that another thread of the caller may have forked.
 */
#include "emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int job_path(char *path, const char *state, unsigned long long number) {
    char name[32];
    snprintf(name, sizeof name, "job.%llu", number);
    return join(path, state, name);
}

static int lock_byte(int fd, off_t byte, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &lock) ? -errno : 0;
}

static int append(struct job *job, const char *text) {
    size_t size = strlen(text) + 1;
    if (job->size + size > job->room) {
        size_t room = 2 * (job->size + size) + 4096;
        char *more = realloc(job->text, room);
        if (!more)
            return -ENOMEM;
        job->text = more;
        job->room = room;
    }
    memcpy(job->text + job->size, text, size);
    job->size += size;
    return 0;
}

int job_add(struct job *job, const char *key, const char *dw, const char *pfs) {
    int error = append(job, key);
    if (!error)
        error = append(job, dw);
    return error ? error : append(job, pfs);
}

/* The next file of a job, from *at on; 0 at the end. */
int job_next(const struct job *job, size_t *at, const char **key, const char **dw,
             const char **pfs) {
    const char **fields[] = {key, dw, pfs};
    for (int i = 0; i < 3; i++) {
        if (*at >= job->size)
            return 0;
        *fields[i] = job->text + *at;
        *at += strlen(*fields[i]) + 1;
    }
    return 1;
}

/* Make the job file and lock it. Returns a descriptor that is none of the first three. */
int job_open(const struct place *place, unsigned long long number) {
    char path[PATH_MAX];
    int error = job_path(path, place->state, number);
    if (error)
        return error;
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    error = high < 0 ? -errno : lock_byte(high, 0, F_WRLCK);
    close(fd);
    if (error && high >= 0)
        close(high);
    return error ? error : high;
}

int job_save(int fd, const struct job *job) {
    char direction[2] = {job->direction, '\0'};
    if (pwrite(fd, direction, 2, 0) != 2)
        return -ENOSPC;
    for (size_t done = 0; done < job->size;) {
        ssize_t size = pwrite(fd, job->text + done, job->size - done, (off_t)(done + 2));
        if (size <= 0)
            return size ? -errno : -ENOSPC;
        done += (size_t)size;
    }
    return 0;
}

/* In the copier: take the lock over from the caller. Returns a descriptor to read the job from. */
int job_adopt(const char *state, unsigned long long number, int handed) {
    char path[PATH_MAX];
    int error = job_path(path, state, number);
    if (error)
        return error;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    error = lock_byte(fd, 1, F_WRLCK);
    if (error) {
        close(fd);
        return error;
    }
    lock_byte(handed, 0, F_UNLCK);
    close(handed);
    return fd;
}

/* Whether a process holds the job. Nothing is locked to find out. */
int job_alive(const char *state, unsigned long long number) {
    char path[PATH_MAX];
    if (job_path(path, state, number))
        return 0;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return 0;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 2};
    int alive = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(fd);
    return alive;
}

void job_remove(const char *state, unsigned long long number) {
    char path[PATH_MAX];
    if (!job_path(path, state, number))
        unlink(path);
}
