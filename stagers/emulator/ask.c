/* The calls that ask for stages, wait for them, give them up, and list those that failed. */
#include "emulator.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_PAUSE_NS 500000L
#define LAST_PAUSE_NS 20000000L

struct counts {
    int complete, pending, deferred, failed;
};

/* One file's stage: -EINVAL when none was started. */
static int ask(const struct place *place, struct record *record) {
    char key[KEY_SIZE];
    struct stat found;
    if (stat(place->path, &found))
        return -errno;
    if (!S_ISREG(found.st_mode))
        return -EINVAL;
    int error = key_of(AT_FDCWD, place->path, key);
    return error ? error : record_read(place, key, record);
}

static void count(struct counts *counts, char state) {
    counts->complete += state == COMPLETE;
    counts->pending += state == PENDING;
    counts->deferred += state == DEFERRED;
    counts->failed += state == FAILED;
}

static int tell(const struct counts *counts, int *complete, int *pending, int *deferred,
                int *failed) {
    if (!complete || !pending || !deferred || !failed)
        return -EINVAL;
    *complete = counts->complete;
    *pending = counts->pending;
    *deferred = counts->deferred;
    *failed = counts->failed;
    return 0;
}

static int count_file(const char *dw_file, struct counts *counts) {
    struct place place;
    struct record record;
    int error = place_of(dw_file, 0, &place);
    if (!error)
        error = ask(&place, &record);
    if (!error)
        count(counts, record.state);
    return error;
}

static int count_below(void *context, const char *path, const char *below) {
    (void)below;
    int error = count_file(path, context);
    return error == -EINVAL || error == -ENOENT ? 0 : error; /* no stage, or gone meanwhile */
}

static int count_directory(const char *dw_directory, struct counts *counts) {
    struct place place;
    int error = place_of(dw_directory, 0, &place);
    return error ? error : walk(place.path, NULL, count_below, counts);
}

static int count_list(const char **dw_list, struct counts *counts) {
    int error = dw_list && dw_list[0] ? 0 : -EINVAL;
    for (; !error && *dw_list; dw_list++)
        error = count_file(*dw_list, counts);
    return error;
}

int dw_query_file_stage(const char *dw_file, int *complete, int *pending, int *deferred,
                        int *failed) {
    struct counts counts = {0};
    int error = count_file(dw_file, &counts);
    return error ? error : tell(&counts, complete, pending, deferred, failed);
}

int dw_query_directory_stage(const char *dw_directory, int *complete, int *pending, int *deferred,
                             int *failed) {
    struct counts counts = {0};
    int error = count_directory(dw_directory, &counts);
    return error ? error : tell(&counts, complete, pending, deferred, failed);
}

int dw_query_list_stage(const char **dw_list, int *complete, int *pending, int *deferred,
                        int *failed) {
    struct counts counts = {0};
    int error = count_list(dw_list, &counts);
    return error ? error : tell(&counts, complete, pending, deferred, failed);
}

/* ---- wait: for stages that are under way; one that was put off is not waited for */

static void pause_more(long *nanoseconds) {
    struct timespec left = {0, *nanoseconds};
    while (nanosleep(&left, &left) && errno == EINTR)
        ; /* no signal ends a wait */
    *nanoseconds = *nanoseconds * 3 / 2 < LAST_PAUSE_NS ? *nanoseconds * 3 / 2 : LAST_PAUSE_NS;
}

/* What a wait returns for a stage that failed is documented nowhere: here it is 0. */
int dw_wait_file_stage(const char *dw_file) {
    long pause = FIRST_PAUSE_NS;
    for (;;) {
        struct counts counts = {0};
        int error = count_file(dw_file, &counts);
        if (error || !counts.pending)
            return error;
        pause_more(&pause);
    }
}

int dw_wait_directory_stage(const char *dw_directory) {
    long pause = FIRST_PAUSE_NS;
    for (;;) {
        struct counts counts = {0};
        int error = count_directory(dw_directory, &counts);
        if (error || !counts.pending)
            return error;
        pause_more(&pause);
    }
}

int dw_wait_list_stage(const char **dw_list) {
    long pause = FIRST_PAUSE_NS;
    for (;;) {
        struct counts counts = {0};
        int error = count_list(dw_list, &counts);
        if (error || !counts.pending)
            return error;
        pause_more(&pause);
    }
}

/* ---- terminate */

static int give_up(const struct place *place) {
    char key[KEY_SIZE];
    struct record record;
    int error = ask(place, &record);
    if (!error)
        error = key_of(AT_FDCWD, place->path, key);
    if (error)
        return error;
    deferred_drop(place, key);
    return record_drop(place, key);
}

int dw_terminate_file_stage(const char *dw_file) {
    struct place place;
    int error = place_of(dw_file, 0, &place);
    int lock = error ? error : state_lock(&place);
    if (lock < 0)
        return lock;
    error = give_up(&place);
    state_unlock(lock);
    return error;
}

struct giving_up {
    struct place place;
    int count;
};

static int give_up_below(void *context, const char *path, const char *below) {
    struct giving_up *all = context;
    (void)below;
    strcpy(all->place.path, path);
    int error = give_up(&all->place);
    all->count += !error;
    return error == -EINVAL || error == -ENOENT ? 0 : error;
}

int dw_terminate_directory_stage(const char *dw_directory) {
    struct giving_up all = {.count = 0};
    char folder[PATH_MAX];
    int error = place_of(dw_directory, 0, &all.place);
    int lock = error ? error : state_lock(&all.place);
    if (lock < 0)
        return lock;
    strcpy(folder, all.place.path);
    error = walk(folder, NULL, give_up_below, &all);
    state_unlock(lock);
    return error ? error : all.count ? 0 : -EINVAL;
}

int dw_terminate_list_stage(const char **dw_list) {
    int error = dw_list && dw_list[0] ? 0 : -EINVAL, first = 0;
    for (; !error && *dw_list; dw_list++) {
        int one = dw_terminate_file_stage(*dw_list); /* the others are given up all the same */
        first = first ? first : one;
    }
    return error ? error : first;
}

/* ---- the walk over failed stages: as they stand when it is opened */

struct dw_failed_stage_state {
    char (*paths)[PATH_MAX];
    int *errors;
    size_t count, next;
};

int dw_open_failed_stage(const char *dw_instance_path, dw_failed_stage_t **walk) {
    struct place place;
    struct record record;
    if (!walk)
        return -EINVAL;
    int error = place_of(dw_instance_path, 0, &place);
    if (error)
        return error;
    struct dw_failed_stage_state *made = calloc(1, sizeof *made);
    if (!made)
        return -ENOMEM;
    size_t length = strlen(place.path);
    DIR *folder = opendir(place.state);
    for (struct dirent *entry; folder && !error && (entry = readdir(folder));) {
        char key[KEY_SIZE];
        if (!strchr(entry->d_name, '-') || record_read(&place, entry->d_name, &record) ||
            record.state != FAILED || strncmp(record.dw, place.path, length) ||
            (record.dw[length] != '/' && record.dw[length] != '\0') ||
            key_of(AT_FDCWD, record.dw, key) || strcmp(key, entry->d_name))
            continue; /* a file that was unlinked has no failed stage any more */
        void *paths = realloc(made->paths, (made->count + 1) * sizeof *made->paths);
        made->paths = paths ? paths : made->paths;
        void *errors = realloc(made->errors, (made->count + 1) * sizeof *made->errors);
        made->errors = errors ? errors : made->errors;
        if (!paths || !errors) {
            error = -ENOMEM;
            break;
        }
        strcpy(made->paths[made->count], record.dw);
        made->errors[made->count++] = record.error;
    }
    if (folder)
        closedir(folder);
    if (error)
        dw_close_failed_stage(made);
    else
        *walk = made;
    return error;
}

/* A path that does not fit is told by -ERANGE, and comes again with the next call. */
int dw_read_failed_stage(dw_failed_stage_t *walk, char *path, int path_size, int *stage_errno) {
    if (!walk || !path || path_size <= 0 || !stage_errno)
        return -EINVAL;
    if (walk->next == walk->count)
        return 0;
    size_t length = strlen(walk->paths[walk->next]);
    if (length >= (size_t)path_size)
        return -ERANGE;
    strcpy(path, walk->paths[walk->next]);
    *stage_errno = walk->errors[walk->next++];
    return (int)length;
}

int dw_close_failed_stage(dw_failed_stage_t *walk) {
    if (!walk)
        return -EINVAL;
    free(walk->paths);
    free(walk->errors);
    free(walk);
    return 0;
}
