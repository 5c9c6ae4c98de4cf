/* Asking for stages, waiting for them, giving them up: of a file, a directory, a list. */
#include "emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST_PAUSE_NS 100000
#define LAST_PAUSE_NS 5000000

/* What is done to each file of a directory. */
struct round {
    struct place place;
    int counts[4]; /* complete, pending, deferred, failed */
    int touched;
};

static void count(const struct record *record, int counts[4]) {
    static const char order[] = {COMPLETE, PENDING, DEFERRED, FAILED};
    for (int i = 0; i < 4; i++)
        counts[i] += record->state == order[i];
}

static int give(const int counts[4], int *complete, int *pending, int *deferred, int *failed) {
    if (!complete || !pending || !deferred || !failed)
        return -EINVAL;
    *complete = counts[0];
    *pending = counts[1];
    *deferred = counts[2];
    *failed = counts[3];
    return 0;
}

/* Return when the stage is not pending any more, well or not; a deferred one is not waited for. A
 * signal ends a pause, never the wait. */
static int wait_for(const struct place *place, const char *key) {
    struct record record;
    struct timespec pause = {0, FIRST_PAUSE_NS};
    int error = record_read(place, key, &record);
    while (!error && record.state == PENDING) {
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < LAST_PAUSE_NS)
            pause.tv_nsec += pause.tv_nsec / 4;
        error = record_read(place, key, &record);
        if (error == -EINVAL) /* terminated meanwhile */
            return 0;
    }
    return error;
}

static int terminate(const struct place *place, const char *key) {
    int lock = state_lock(place);
    if (lock < 0)
        return lock;
    int error = record_drop(place, key);
    if (!error)
        deferred_drop(place, key);
    state_unlock(lock);
    return error;
}

int dw_query_file_stage(const char *dw_file, int *complete, int *pending, int *deferred,
                        int *failed) {
    const char *files[] = {dw_file, NULL};
    return dw_file ? dw_query_list_stage(files, complete, pending, deferred, failed) : -EINVAL;
}

int dw_wait_file_stage(const char *dw_file) {
    const char *files[] = {dw_file, NULL};
    return dw_file ? dw_wait_list_stage(files) : -EINVAL;
}

int dw_terminate_file_stage(const char *dw_file) {
    const char *files[] = {dw_file, NULL};
    return dw_file ? dw_terminate_list_stage(files) : -EINVAL;
}

int dw_query_list_stage(const char **dw_files, int *complete, int *pending, int *deferred,
                        int *failed) {
    struct place place;
    struct record record;
    char key[KEY_SIZE];
    int counts[4] = {0}, error = dw_files && dw_files[0] ? 0 : -EINVAL;
    for (; !error && *dw_files; dw_files++) {
        error = stage_of(*dw_files, &place, key, &record);
        if (!error)
            count(&record, counts);
    }
    return error ? error : give(counts, complete, pending, deferred, failed);
}

int dw_wait_list_stage(const char **dw_files) {
    struct place place;
    struct record record;
    char key[KEY_SIZE];
    int error = dw_files && dw_files[0] ? 0 : -EINVAL;
    for (; !error && *dw_files; dw_files++) {
        error = stage_of(*dw_files, &place, key, &record);
        if (!error)
            error = wait_for(&place, key);
    }
    return error;
}

int dw_terminate_list_stage(const char **dw_files) {
    struct place place;
    struct record record;
    char key[KEY_SIZE];
    int error = dw_files && dw_files[0] ? 0 : -EINVAL;
    int first = error;
    for (; !error && *dw_files; dw_files++) { /* an error of one does not spare the others */
        int one = stage_of(*dw_files, &place, key, &record);
        if (!one)
            one = terminate(&place, key);
        first = first ? first : one;
    }
    return first;
}

/* ---- directories: files that were never staged are passed over */

static int count_one(void *context, const char *path, const char *below) {
    struct round *round = context;
    struct record record;
    char key[KEY_SIZE];
    (void)below;
    if (!key_of(AT_FDCWD, path, key) && !record_read(&round->place, key, &record))
        count(&record, round->counts);
    return 0;
}

static int wait_one(void *context, const char *path, const char *below) {
    struct round *round = context;
    char key[KEY_SIZE];
    (void)below;
    if (!key_of(AT_FDCWD, path, key))
        wait_for(&round->place, key);
    return 0;
}

static int terminate_one(void *context, const char *path, const char *below) {
    struct round *round = context;
    char key[KEY_SIZE];
    (void)below;
    int error = key_of(AT_FDCWD, path, key);
    if (!error)
        error = terminate(&round->place, key);
    round->touched += !error;
    return error == -ENOENT || error == -EINVAL ? 0 : error;
}

int dw_query_directory_stage(const char *dw_directory, int *complete, int *pending, int *deferred,
                             int *failed) {
    struct round round = {.touched = 0};
    int error = place_of(dw_directory, 0, &round.place);
    if (!error)
        error = walk(round.place.path, NULL, count_one, &round);
    return error ? error : give(round.counts, complete, pending, deferred, failed);
}

int dw_wait_directory_stage(const char *dw_directory) {
    struct round round = {.touched = 0};
    int error = place_of(dw_directory, 0, &round.place);
    return error ? error : walk(round.place.path, NULL, wait_one, &round);
}

int dw_terminate_directory_stage(const char *dw_directory) {
    struct round round = {.touched = 0};
    int error = place_of(dw_directory, 0, &round.place);
    if (!error)
        error = walk(round.place.path, NULL, terminate_one, &round);
    return error || round.touched ? error : -EINVAL;
}
