/* The calls that start stages, and those that put them off, revoke and activate them.
 *
 * A call takes the state's lock once: it looks at all of its files, then writes all of their
 * records, so that a call that fails has started nothing.
 */
#include "emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SWEEP_EACH 64

struct call {
    struct place place; /* of the instance; `path` is the last file's */
    struct job job;
    enum dw_stage_type type;
    const char *source, *target; /* of a directory or a list */
    int lock, found;
};

static void drop_call(struct call *call) {
    free(call->job.text);
    if (call->lock >= 0)
        state_unlock(call->lock);
}

/* The real path of a file that may not be there yet, below a folder that must be. */
static int real_of(const char *path, char real[PATH_MAX]) {
    char parent[PATH_MAX], folder[PATH_MAX];
    size_t length = path ? strlen(path) : 0;
    if (length == 0 || path[length - 1] == '/')
        return -EINVAL;
    if (length >= PATH_MAX)
        return -ENAMETOOLONG;
    strcpy(parent, path);
    char *slash = strrchr(parent, '/');
    const char *name = slash ? path + (slash - parent) + 1 : path;
    if (slash)
        slash[slash == parent] = '\0';
    if (!realpath(slash ? parent : ".", folder))
        return -errno;
    int error = access(folder, W_OK | X_OK) ? -errno : join(real, folder, name);
    struct stat found;
    if (!error && stat(real, &found) == 0 && S_ISDIR(found.st_mode))
        error = -EISDIR;
    return error;
}

/* Note one file of a call that starts stages. An active stage of it, or one put off, is in the way. */
static int note(struct call *call, const char *dw, const char *pfs) {
    char key[KEY_SIZE];
    struct record record;
    struct fault fault = fault_of(&call->place, dw, 1);
    if (fault.trouble == FAIL)
        return -fault.error;
    int error = key_of(AT_FDCWD, dw, key);
    if (error)
        return error;
    if (!record_read(&call->place, key, &record) &&
        (record.state == PENDING || record.state == DEFERRED))
        return -EBUSY;
    call->found++;
    return job_add(&call->job, key, dw, pfs);
}

static int each_record(struct call *call, struct record *record, int drop) {
    int error = 0;
    char *at = call->job.text, *end = at + call->job.size;
    while (!error && at < end) {
        char *key = at, *dw = key + strlen(key) + 1, *pfs = dw + strlen(dw) + 1;
        at = pfs + strlen(pfs) + 1;
        if (drop) {
            deferred_drop(&call->place, key);
            record_drop(&call->place, key);
            continue;
        }
        if (strlen(dw) >= PATH_MAX || strlen(pfs) >= PATH_MAX)
            return -ENAMETOOLONG;
        strcpy(record->dw, dw);
        strcpy(record->pfs, pfs);
        error = record_write(&call->place, key, record);
        if (!error && record->state == DEFERRED)
            error = deferred_write(&call->place, key, dw, pfs);
    }
    return error;
}

/* Write the records of the files noted, and let them be copied. */
static int begin(struct call *call) {
    struct record record = {.direction = call->job.direction};
    record.state = call->type == DW_STAGE_AT_JOB_END ? DEFERRED : PENDING;
    if (!call->found)
        return 0;
    record.job = state_count(call->lock);
    if (!record.job)
        return -ENOSPC;
    if (record.job % SWEEP_EACH == 0) { /* it takes the lock itself */
        state_unlock(call->lock);
        record_sweep(&call->place);
        call->lock = state_lock(&call->place);
        if (call->lock < 0)
            return call->lock;
    }
    int job = record.state == DEFERRED ? 0 : job_open(&call->place, record.job);
    int error = job < 0 ? job : 0;
    if (!error && record.state == PENDING)
        error = job_save(job, &call->job);
    if (!error)
        error = each_record(call, &record, 0);
    if (!error && record.state == PENDING)
        error = launch_copier(call->place.state, record.job, job);
    if (error) {
        each_record(call, NULL, 1);
        if (job > 0)
            job_remove(call->place.state, record.job);
    }
    if (job > 0)
        close(job);
    return error;
}

static int open_call(struct call *call, const char *path, int may_be_absent, char direction) {
    memset(call, 0, sizeof *call);
    call->lock = -1;
    call->job.direction = direction;
    int error = place_of(path, may_be_absent, &call->place);
    if (!error) {
        call->lock = state_lock(&call->place);
        error = call->lock < 0 ? call->lock : 0;
    }
    return error;
}

static int end_call(struct call *call, int error) {
    error = error ? error : begin(call);
    drop_call(call);
    return error;
}

/* ---- stage in */

static int note_in(struct call *call, const char *dw, const char *pfs) {
    char source[PATH_MAX];
    struct stat found;
    struct record record;
    char key[KEY_SIZE];
    if (!pfs || !realpath(pfs, source))
        return pfs ? -errno : -EINVAL;
    if (stat(source, &found) || access(source, R_OK))
        return -errno;
    if (!S_ISREG(found.st_mode))
        return -EINVAL;
    /* Not truncated before it is known that no stage reads or writes it. */
    int fd = open(dw, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return -errno;
    int error = key_of(fd, "", key);
    if (!error && (record_read(&call->place, key, &record) ||
                   (record.state != PENDING && record.state != DEFERRED)) &&
        ftruncate(fd, 0))
        error = -errno;
    close(fd);
    return error ? error : note(call, dw, source);
}

static int visit_in(void *context, const char *path, const char *below) {
    struct call *call = context;
    char dw[PATH_MAX];
    int error = join(dw, call->target, below);
    return error ? error : note_in(call, dw, path);
}

int dw_stage_file_in(const char *dw_file, const char *pfs_file) {
    struct call call;
    int error = open_call(&call, dw_file, 1, 'i');
    return end_call(&call, error ? error : note_in(&call, call.place.path, pfs_file));
}

int dw_stage_directory_in(const char *dw_directory, const char *pfs_directory) {
    struct call call;
    char source[PATH_MAX];
    int error = open_call(&call, dw_directory, 1, 'i');
    if (!error && (!pfs_directory || !realpath(pfs_directory, source)))
        error = pfs_directory ? -errno : -EINVAL;
    if (!error && mkdir(call.place.path, 0777) && errno != EEXIST)
        error = -errno;
    call.target = call.place.path;
    if (!error)
        error = walk(source, call.target, visit_in, &call);
    return end_call(&call, error);
}

int dw_stage_list_in(const char *dw_directory, const char **pfs_list) {
    struct call call;
    struct stat found;
    char dw[PATH_MAX];
    int error = open_call(&call, dw_directory, 0, 'i');
    if (!error && (!pfs_list || stat(call.place.path, &found) || !S_ISDIR(found.st_mode)))
        error = pfs_list ? -ENOTDIR : -EINVAL;
    for (; !error && *pfs_list; pfs_list++) {
        const char *name = strrchr(*pfs_list, '/');
        error = join(dw, call.place.path, name ? name + 1 : *pfs_list);
        if (!error)
            error = note_in(&call, dw, *pfs_list);
    }
    return end_call(&call, error);
}

/* ---- stage out */

/* Revoke or activate what was put off: `one` is a file whose record is looked at. */
static int note_deferred(struct call *call, const char *dw) {
    char key[KEY_SIZE];
    struct record record;
    int error = key_of(AT_FDCWD, dw, key);
    if (!error && !record_read(&call->place, key, &record) && record.state == DEFERRED) {
        deferred_drop(&call->place, key);
        call->found++;
        if (call->type == DW_REVOKE_STAGE_AT_JOB_END)
            return record_drop(&call->place, key);
        return job_add(&call->job, key, record.dw, record.pfs);
    }
    return error;
}

static int starts(enum dw_stage_type type) {
    return type == DW_STAGE_IMMEDIATE || type == DW_STAGE_AT_JOB_END;
}

static int note_out(struct call *call, const char *dw, const char *pfs) {
    char target[PATH_MAX];
    struct stat found;
    if (!starts(call->type))
        return note_deferred(call, dw);
    if (stat(dw, &found))
        return -errno;
    if (!S_ISREG(found.st_mode))
        return -EINVAL;
    int error = real_of(pfs, target);
    return error ? error : note(call, dw, target);
}

static int visit_out(void *context, const char *path, const char *below) {
    struct call *call = context;
    char pfs[PATH_MAX];
    int error = starts(call->type) ? join(pfs, call->target, below) : 0;
    return error ? error : note_out(call, path, pfs);
}

static int open_out(struct call *call, const char *path, enum dw_stage_type type) {
    int error = open_call(call, path, 0, 'o');
    call->type = type;
    int known = type >= DW_STAGE_IMMEDIATE && type <= DW_ACTIVATE_DEFERRED_STAGE;
    return error ? error : known ? 0 : -EINVAL;
}

static int end_out(struct call *call, int error) {
    if (!error && !starts(call->type)) {
        if (!call->found)
            error = -EINVAL; /* nothing was put off */
        if (call->type == DW_REVOKE_STAGE_AT_JOB_END)
            call->found = 0; /* nothing is to be copied */
    }
    return end_call(call, error);
}

int dw_stage_file_out(const char *dw_file, const char *pfs_file, enum dw_stage_type type) {
    struct call call;
    int error = open_out(&call, dw_file, type);
    return end_out(&call, error ? error : note_out(&call, call.place.path, pfs_file));
}

/* The folder on the parallel file system, which must be there and take files. */
static int open_target(struct call *call, const char *pfs_directory, char target[PATH_MAX]) {
    struct stat found;
    if (!starts(call->type))
        return 0;
    if (!pfs_directory)
        return -EINVAL;
    if (!realpath(pfs_directory, target) || stat(target, &found))
        return -errno;
    if (!S_ISDIR(found.st_mode))
        return -ENOTDIR;
    call->target = target;
    return access(target, W_OK | X_OK) ? -errno : 0;
}

int dw_stage_directory_out(const char *dw_directory, const char *pfs_directory,
                           enum dw_stage_type type) {
    struct call call;
    char target[PATH_MAX];
    int error = open_out(&call, dw_directory, type);
    if (!error)
        error = open_target(&call, pfs_directory, target);
    if (!error)
        error = walk(call.place.path, call.target, visit_out, &call);
    return end_out(&call, error);
}

int dw_stage_list_out(const char **dw_list, const char *pfs_directory, enum dw_stage_type type) {
    struct call call;
    struct place place;
    char target[PATH_MAX], pfs[PATH_MAX];
    if (!dw_list || !dw_list[0])
        return -EINVAL;
    int error = open_out(&call, dw_list[0], type);
    if (!error)
        error = open_target(&call, pfs_directory, target);
    for (; !error && *dw_list; dw_list++) {
        error = place_of(*dw_list, 0, &place);
        if (!error && strcmp(place.root, call.place.root))
            error = -EXDEV;
        if (!error && call.target)
            error = join(pfs, call.target, strrchr(place.path, '/') + 1);
        if (!error)
            error = note_out(&call, place.path, pfs);
    }
    return end_out(&call, error);
}
