/* The process that copies the files of one call, long after its caller may have gone.
 *
 * A file's record is locked while it is copied. Whoever terminates the stage unlinks the record and
 * waits for that lock, so the copier looks again and again whether it still has a name.
 */
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
#define LOOK_NS 5000000L

struct copying {
    const char *state;
    unsigned long long number;
    char direction;
    char *next, *end;
    pthread_mutex_t lock;
    double bandwidth, delay;
};

static void pause_s(double seconds) {
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

static int terminated(int record) {
    struct stat found;
    return fstat(record, &found) || found.st_nlink == 0;
}

/* Pause, but not beyond the stage's termination. */
static void pause_or_end(double seconds, int record) {
    for (double look = LOOK_NS / 1e9; seconds > 0 && !terminated(record); seconds -= look)
        pause_s(seconds < look ? seconds : look);
}

/* One of the places in which an instance copies; as many as dw_set_stage_concurrency allows. */
static int take_slot(const char *state, int record) {
    char name[32], path[PATH_MAX];
    while (!terminated(record)) {
        unsigned int most = limit_of(state);
        for (unsigned int i = 0; i < most; i++) {
            snprintf(name, sizeof name, "slot.%u", i);
            int fd = join(path, state, name) ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
            if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
                return fd;
            if (fd >= 0)
                close(fd);
        }
        pause_s(LOOK_NS / 1e9);
    }
    return -1;
}

/* Copy up to `most` bytes. Returns a negative errno. */
static int pump(int from, int to, off_t most, double bandwidth, int record) {
    char *block = malloc(BLOCK);
    size_t step = bandwidth > 0 && bandwidth < 20.0 * BLOCK ? (size_t)(bandwidth / 20) + 1 : BLOCK;
    int error = block ? 0 : -ENOMEM;
    while (!error && most > 0 && !terminated(record)) {
        size_t wanted = (off_t)step < most ? step : (size_t)most;
        ssize_t size = read(from, block, wanted);
        if (size == 0)
            break;
        if (size < 0) {
            error = errno == EINTR ? 0 : -errno;
            continue;
        }
        most -= size;
        for (ssize_t done = 0; !error && done < size;) {
            ssize_t written = write(to, block + done, (size_t)(size - done));
            if (written < 0 && errno != EINTR)
                error = -errno;
            done += written > 0 ? written : 0;
        }
        if (bandwidth > 0)
            pause_or_end((double)size / bandwidth, record);
    }
    free(block);
    return error;
}

/* Copy one file, with the trouble that was asked for. Returns a negative errno. */
static int copy(const char *source, const char *target, struct fault fault, double bandwidth,
                int record) {
    struct stat found;
    int from = open(source, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return -errno;
    /* The umask alone gives the mode: executable bits are lost, as on a Cray. */
    int to = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int error = to < 0 ? -errno : fstat(from, &found) ? -errno : 0;
    if (!error) {
        off_t most = fault.trouble == NONE ? (off_t)1 << 62 : found.st_size / 2;
        error = pump(from, to, most, bandwidth, record);
    }
    if (!error && fault.trouble == KILL)
        kill(getpid(), SIGKILL);
    if (!error && fault.trouble == FAIL)
        error = -fault.error;
    while (!error && fault.trouble == HANG && !terminated(record))
        pause_s(LOOK_NS / 1e9);
    if (!error && fsync(to))
        error = -errno;
    if (to >= 0 && close(to) && !error)
        error = -errno;
    close(from);
    return error;
}

static void carry_out(struct copying *all, const char *key, const char *dw, const char *pfs) {
    char path[PATH_MAX];
    struct record told;
    struct place place;
    if (join(path, all->state, key))
        return;
    int record = open(path, O_RDWR | O_CLOEXEC);
    if (record < 0)
        return; /* terminated before it began */
    int slot = take_slot(all->state, record);
    while (slot >= 0 && flock(record, LOCK_EX) && errno == EINTR)
        ;
    if (slot >= 0 && !terminated(record) && !record_parse(record, &told) &&
        told.job == all->number && told.state == PENDING) {
        snprintf(place.state, sizeof place.state, "%s", all->state);
        struct fault fault = fault_of(&place, dw, 0);
        const char *source = all->direction == 'i' ? pfs : dw;
        const char *target = all->direction == 'i' ? dw : pfs;
        pause_or_end(all->delay, record);
        int error = copy(source, target, fault, all->bandwidth, record);
        record_close(record, error ? FAILED : COMPLETE, -error);
    }
    close(record);
    if (slot >= 0)
        close(slot);
}

static char *taken(struct copying *all) {
    char *at = all->next;
    if (at >= all->end)
        return NULL;
    all->next = at + strlen(at) + 1;
    return at;
}

static void *work(void *argument) {
    struct copying *all = argument;
    for (;;) {
        pthread_mutex_lock(&all->lock);
        char *key = taken(all), *dw = taken(all), *pfs = taken(all);
        pthread_mutex_unlock(&all->lock);
        if (!pfs)
            return NULL;
        carry_out(all, key, dw, pfs);
    }
}

/* Copy all files of a job. */
int copier_run(const char *state, unsigned long long number, int handed) {
    struct stat found;
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error of the stage */
    int fd = job_adopt(state, number, handed);
    if (fd < 0 || fstat(fd, &found))
        return fd < 0 ? fd : -errno;
    char *text = malloc((size_t)found.st_size + 1);
    if (!text || pread(fd, text, (size_t)found.st_size, 0) != found.st_size || found.st_size < 2)
        return -EIO;
    text[found.st_size] = '\0';
    struct copying all = {
        .state = state,
        .number = number,
        .direction = text[0],
        .next = text + 2,
        .end = text + found.st_size,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .bandwidth = setting_of(state, "bandwidth", "DW_EMULATOR_BANDWIDTH"),
        .delay = setting_of(state, "delay", "DW_EMULATOR_DELAY_S"),
    };
    pthread_t threads[64];
    unsigned int count = 0, most = limit_of(state), files = 0;
    for (char *at = all.next; at < all.end; at += strlen(at) + 1)
        files++;
    files /= 3;
    for (; count + 1 < most && count + 1 < files && count < 63; count++)
        if (pthread_create(&threads[count], NULL, work, &all))
            break;
    work(&all);
    while (count > 0)
        pthread_join(threads[--count], NULL);
    job_remove(state, number);
    free(text);
    close(fd);
    return 0;
}
