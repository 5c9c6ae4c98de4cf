/* The process that copies the files of one job, a few at a time, and puts the outcome on record. */
#include "emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK (1 << 20)
#define MOST_THREADS 16
#define SWEEP_EVERY 256 /* jobs */

struct copier {
    struct place place; /* its state only */
    unsigned long long number;
    struct job job;
    size_t at;
    pthread_mutex_t turn;
    double delay, bandwidth;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A terminated stage has lost its record. */
static int terminated(int record) {
    struct stat found;
    return fstat(record, &found) || found.st_nlink == 0;
}

/* Returns at the given time, or -ECANCELED as soon as the stage is terminated. */
static int pause_until(double end, int record) {
    for (double left; !terminated(record);) {
        if ((left = end - now()) <= 0)
            return 0;
        double part = left < 0.002 ? left : 0.002;
        struct timespec pause = {0, (long)(part * 1e9)};
        nanosleep(&pause, NULL);
    }
    return -ECANCELED;
}

/* One of the places that the instance's limit leaves: a lock, which a dead copier gives back. */
static int take_slot(const struct copier *copier, int record) {
    char name[24], path[PATH_MAX];
    for (;;) {
        unsigned int limit = limit_of(copier->place.state);
        for (unsigned int i = 0; i < limit; i++) {
            snprintf(name, sizeof name, "slot.%u", i);
            if (join(path, copier->place.state, name))
                return -ENAMETOOLONG;
            int slot = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
            if (slot < 0)
                return -errno;
            if (flock(slot, LOCK_EX | LOCK_NB) == 0)
                return slot;
            close(slot);
        }
        int error = pause_until(now() + 0.001, record);
        if (error)
            return error;
    }
}

static int write_all(int fd, const char *block, size_t size) {
    while (size > 0) {
        ssize_t done = write(fd, block, size);
        if (done < 0 && errno != EINTR)
            return -errno;
        if (done > 0) {
            block += done;
            size -= (size_t)done;
        }
    }
    return 0;
}

/* Copy up to `most` bytes, not faster than the bandwidth. */
static int pump(const struct copier *copier, int from, int to, off_t most, int record) {
    char *block = malloc(BLOCK);
    double begin = now();
    off_t done = 0;
    int error = block ? 0 : -ENOMEM;
    while (!error && done < most) {
        size_t part = most - done < BLOCK ? (size_t)(most - done) : BLOCK;
        if (copier->bandwidth > 0 && (double)part > copier->bandwidth * 0.02)
            part = 1 + (size_t)(copier->bandwidth * 0.02);
        ssize_t size = read(from, block, part);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0) {
            error = size ? -errno : 0;
            break;
        }
        error = write_all(to, block, (size_t)size);
        done += size;
        if (!error && terminated(record))
            error = -ECANCELED;
        if (!error && copier->bandwidth > 0)
            error = pause_until(begin + (double)done / copier->bandwidth, record);
    }
    free(block);
    return error;
}

static int transfer(const struct copier *copier, const char *dw, const char *pfs,
                    struct fault fault, int record) {
    int inward = copier->job.direction == 'i';
    struct stat found;
    int from = open(inward ? pfs : dw, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return -errno;
    int to = open(inward ? dw : pfs, O_WRONLY | O_TRUNC | O_CLOEXEC | (inward ? 0 : O_CREAT), 0666);
    int error = to < 0 || fstat(from, &found) ? -errno : 0;
    if (!error)
        error = pump(copier, from, to, fault.trouble == NONE ? (off_t)1 << 62 : found.st_size / 2,
                     record);
    if (!error && fault.trouble == KILL)
        kill(getpid(), SIGKILL);
    if (!error && fault.trouble == HANG)
        error = pause_until(now() + 1e9, record);
    if (!error && fault.trouble == FAIL)
        error = -fault.error;
    if (!error && fsync(to))
        error = -errno;
    if (to >= 0 && close(to) && !error)
        error = -errno;
    close(from);
    return error;
}

static void copy_file(const struct copier *copier, const char *key, const char *dw,
                      const char *pfs) {
    char path[PATH_MAX];
    struct record state;
    int record = join(path, copier->place.state, key) ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (record < 0)
        return; /* terminated before its turn */
    /* A caller that terminates the stage waits for this lock: nothing is written after that. */
    while (flock(record, LOCK_EX) && errno == EINTR)
        ;
    if (terminated(record) || record_parse(record, &state) || state.job != copier->number) {
        close(record);
        return;
    }
    int slot = take_slot(copier, record);
    int error = slot < 0 ? slot : pause_until(now() + copier->delay, record);
    if (!error)
        error = transfer(copier, dw, pfs, fault_of(copier->place.state, dw, 0), record);
    if (slot >= 0)
        close(slot);
    record_close(record, error ? FAILED : COMPLETE, -error);
    close(record);
}

static void *copy_files(void *context) {
    struct copier *copier = context;
    const char *key, *dw, *pfs;
    for (;;) {
        pthread_mutex_lock(&copier->turn);
        int more = job_next(&copier->job, &copier->at, &key, &dw, &pfs);
        pthread_mutex_unlock(&copier->turn);
        if (!more)
            return NULL;
        copy_file(copier, key, dw, pfs);
    }
}

static int load(int fd, struct job *job) {
    struct stat found;
    if (fstat(fd, &found) || found.st_size < 2)
        return -EIO;
    job->text = malloc((size_t)found.st_size);
    if (!job->text)
        return -ENOMEM;
    while (job->size < (size_t)found.st_size) {
        ssize_t size = pread(fd, job->text + job->size, (size_t)found.st_size - job->size,
                             (off_t)job->size);
        if (size <= 0)
            return -EIO;
        job->size += (size_t)size;
    }
    job->direction = job->text[0];
    return 0;
}

/* Copy the files of a job, whose locked file is descriptor `handed`. Returns 0 or a negative errno;
 * what became of each file is on record. */
int copier_run(const char *state, unsigned long long number, int handed) {
    struct copier copier = {.number = number, .at = 2, .turn = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[MOST_THREADS];
    unsigned int started = 0, files = 0;
    const char *key, *dw, *pfs;
    snprintf(copier.place.state, PATH_MAX, "%s", state);
    int fd = job_adopt(state, number, handed);
    int error = fd < 0 ? fd : load(fd, &copier.job);
    if (error)
        return error;
    copier.delay = setting_of(state, "delay", "DW_EMULATOR_DELAY_S");
    copier.bandwidth = setting_of(state, "bandwidth", "DW_EMULATOR_BANDWIDTH");
    for (size_t at = 2; files < MOST_THREADS && job_next(&copier.job, &at, &key, &dw, &pfs);)
        files++;
    while (started + 1 < files &&
           !pthread_create(&threads[started], NULL, copy_files, &copier))
        started++;
    copy_files(&copier);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    job_remove(state, number);
    close(fd);
    free(copier.job.text);
    if (number % SWEEP_EVERY == 0)
        record_sweep(&copier.place);
    return 0;
}
