/* Starting stages: what is wanted is collected and looked at first, then put on record. */
#include "emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a walk over a directory collects for. */
struct call {
    const struct place *place;
    struct job *wanted;
    const char *folder; /* where the files go to; NULL when their records know it */
    int inward;
};

/* One file of a call, both paths absolute. */
static int want(const struct place *place, struct job *wanted, const char *dw, const char *pfs,
                int inward) {
    struct fault fault = fault_of(place->state, dw, 1);
    int error = -fault.error;
    if (!error)
        error = check_source(inward ? pfs : dw);
    if (!error && (inward || pfs[0]))
        error = check_target(inward ? dw : pfs);
    return error ? error : job_add(wanted, "", dw, pfs);
}

static int want_below(void *context, const char *path, const char *below) {
    struct call *call = context;
    char target[PATH_MAX] = "";
    int error = call->folder ? join(target, call->folder, below) : 0;
    if (error)
        return error;
    return call->inward ? want(call->place, call->wanted, target, path, 1)
                        : want(call->place, call->wanted, path, target, 0);
}

/* Whether that file may be staged now, as `type` says. */
static int check_record(const struct place *place, const char *dw, enum dw_stage_type type) {
    struct record record;
    char key[KEY_SIZE];
    int error = key_of(AT_FDCWD, dw, key);
    if (!error)
        error = record_read(place, key, &record);
    if (type == DW_REVOKE_STAGE_AT_JOB_END || type == DW_ACTIVATE_DEFERRED_STAGE)
        return !error && record.state != DEFERRED ? -EINVAL : error;
    if (error) /* not there yet, or never staged */
        return error == -ENOENT || error == -EINVAL ? 0 : error;
    return record.state == PENDING || record.state == DEFERRED ? -EBUSY : 0;
}

/* Stage in makes the file at once, empty and not executable. */
static int make_empty(const char *dw, char key[KEY_SIZE]) {
    struct stat found;
    int fd = open(dw, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return -errno;
    int error = key_of(fd, "", key);
    if (!error && (fstat(fd, &found) || fchmod(fd, found.st_mode & 0666)))
        error = -errno;
    close(fd);
    return error;
}

static int enter(const struct place *place, struct job *job, enum dw_stage_type type,
                 unsigned long long number, const char *dw, const char *pfs) {
    struct record record = {.state = type == DW_STAGE_AT_JOB_END ? DEFERRED : PENDING};
    char key[KEY_SIZE];
    int error = job->direction == 'i' ? make_empty(dw, key) : key_of(AT_FDCWD, dw, key);
    if (!error && type == DW_ACTIVATE_DEFERRED_STAGE) {
        error = record_read(place, key, &record);
        record.state = PENDING;
    } else {
        strcpy(record.dw, dw);
        strcpy(record.pfs, pfs);
    }
    record.direction = job->direction;
    record.job = number;
    if (error)
        return error;
    if (type == DW_REVOKE_STAGE_AT_JOB_END) {
        error = record_drop(place, key);
        deferred_drop(place, key);
        return error;
    }
    if (type == DW_STAGE_AT_JOB_END)
        error = deferred_write(place, key, record.dw, record.pfs);
    if (!error)
        error = record_write(place, key, &record);
    if (type == DW_STAGE_AT_JOB_END)
        return error;
    deferred_drop(place, key);
    return error ? error : job_add(job, key, record.dw, record.pfs);
}

/* Put all that is wanted on record, or nothing when one of the files is busy. `some` lets files
 * pass that are not deferred, as long as one is. */
static int start(const struct place *place, struct job *wanted, enum dw_stage_type type, int some) {
    struct job job = {.direction = wanted->direction}, left = {.direction = wanted->direction};
    const char *key, *dw, *pfs;
    int lock = state_lock(place), held = -1, error = 0;
    if (lock < 0)
        return lock;
    unsigned long long number = state_count(lock);
    for (size_t at = 0; !error && job_next(wanted, &at, &key, &dw, &pfs);) {
        int bad = check_record(place, dw, type);
        if (!bad)
            error = job_add(&left, key, dw, pfs);
        else if (!some || bad != -EINVAL)
            error = bad;
    }
    if (!error && some && !left.size)
        error = -EINVAL;
    if (!error && (type == DW_STAGE_IMMEDIATE || type == DW_ACTIVATE_DEFERRED_STAGE) && left.size)
        error = (held = job_open(place, number)) < 0 ? held : 0;
    for (size_t at = 0; !error && job_next(&left, &at, &key, &dw, &pfs);)
        error = enter(place, &job, type, number, dw, pfs);
    if (!error && held >= 0)
        error = job_save(held, &job);
    state_unlock(lock);
    if (!error && held >= 0)
        error = launch_copier(place->state, number, held);
    if (held >= 0)
        close(held);
    if (error && held >= 0)
        job_remove(place->state, number);
    free(job.text);
    free(left.text);
    return error;
}

static int unknown(enum dw_stage_type type) {
    return (unsigned int)type > DW_ACTIVATE_DEFERRED_STAGE;
}

/* Types that deal with stages put off earlier. */
static int settles(enum dw_stage_type type) {
    return type == DW_REVOKE_STAGE_AT_JOB_END || type == DW_ACTIVATE_DEFERRED_STAGE;
}

int dw_stage_file_out(const char *dw_file, const char *pfs_file, enum dw_stage_type type) {
    struct place place;
    struct job wanted = {.direction = 'o'};
    char pfs[PATH_MAX] = "";
    int error = place_of(dw_file, 0, &place);
    if (!error && unknown(type))
        error = -EINVAL;
    if (!error && !settles(type))
        error = absolute(pfs_file, pfs);
    if (!error && !settles(type))
        error = check_pfs(pfs);
    if (!error)
        error = want(&place, &wanted, place.path, pfs, 0);
    if (!error)
        error = start(&place, &wanted, type, 0);
    free(wanted.text);
    return error;
}

int dw_stage_directory_out(const char *dw_directory, const char *pfs_directory,
                           enum dw_stage_type type) {
    struct place place;
    struct job wanted = {.direction = 'o'};
    char pfs[PATH_MAX];
    struct call call = {.place = &place, .wanted = &wanted};
    int error = place_of(dw_directory, 0, &place);
    if (!error && unknown(type))
        error = -EINVAL;
    if (!error && !settles(type)) {
        error = absolute(pfs_directory, pfs);
        if (!error)
            error = check_folder(pfs);
        if (!error)
            error = check_pfs(pfs);
        call.folder = pfs;
    }
    if (!error)
        error = walk(place.path, call.folder, want_below, &call);
    if (!error)
        error = start(&place, &wanted, type, settles(type));
    free(wanted.text);
    return error;
}

int dw_stage_list_out(const char **dw_files, const char *pfs_directory, enum dw_stage_type type) {
    struct place place;
    struct job wanted = {.direction = 'o'};
    char pfs[PATH_MAX], target[PATH_MAX] = "";
    int error = !dw_files || !dw_files[0] || unknown(type) ? -EINVAL : 0;
    if (!error && !settles(type)) {
        error = absolute(pfs_directory, pfs);
        if (!error)
            error = check_folder(pfs);
        if (!error)
            error = check_pfs(pfs);
    }
    for (const char **file = dw_files; !error && *file; file++) {
        char root[PATH_MAX] = "";
        if (file > dw_files)
            strcpy(root, place.root);
        error = place_of(*file, 0, &place);
        if (!error && root[0] && strcmp(root, place.root) != 0)
            error = -EXDEV;
        if (!error && !settles(type))
            error = join(target, pfs, strrchr(place.path, '/') + 1);
        if (!error)
            error = want(&place, &wanted, place.path, target, 0);
    }
    if (!error)
        error = start(&place, &wanted, type, 0);
    free(wanted.text);
    return error;
}

int dw_stage_file_in(const char *dw_file, const char *pfs_file) {
    struct place place;
    struct job wanted = {.direction = 'i'};
    char pfs[PATH_MAX];
    int error = place_of(dw_file, 1, &place);
    if (!error)
        error = absolute(pfs_file, pfs);
    if (!error)
        error = check_pfs(pfs);
    if (!error)
        error = want(&place, &wanted, place.path, pfs, 1);
    if (!error)
        error = start(&place, &wanted, DW_STAGE_IMMEDIATE, 0);
    free(wanted.text);
    return error;
}

int dw_stage_directory_in(const char *dw_directory, const char *pfs_directory) {
    struct place place;
    struct job wanted = {.direction = 'i'};
    char pfs[PATH_MAX];
    struct call call = {.place = &place, .wanted = &wanted, .folder = place.path, .inward = 1};
    int error = place_of(dw_directory, 0, &place);
    if (!error)
        error = check_folder(place.path);
    if (!error)
        error = absolute(pfs_directory, pfs);
    if (!error)
        error = check_pfs(pfs);
    char real[PATH_MAX];
    if (!error && !realpath(pfs, real))
        error = -errno;
    if (!error)
        error = walk(real, place.path, want_below, &call);
    if (!error && wanted.size)
        error = start(&place, &wanted, DW_STAGE_IMMEDIATE, 0);
    free(wanted.text);
    return error;
}

int dw_stage_list_in(const char *dw_directory, const char **pfs_files) {
    struct place place;
    struct job wanted = {.direction = 'i'};
    char pfs[PATH_MAX], target[PATH_MAX];
    int error = pfs_files && pfs_files[0] ? place_of(dw_directory, 0, &place) : -EINVAL;
    if (!error)
        error = check_folder(place.path);
    for (const char **file = pfs_files; !error && *file; file++) {
        error = absolute(*file, pfs);
        if (!error)
            error = check_pfs(pfs);
        if (!error)
            error = join(target, place.path, strrchr(pfs, '/') + 1);
        if (!error)
            error = want(&place, &wanted, target, pfs, 1);
    }
    if (!error)
        error = start(&place, &wanted, DW_STAGE_IMMEDIATE, 0);
    free(wanted.text);
    return error;
}
