/* The walk over failed stages: a snapshot of the moment it was opened. */
#include "emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dw_failed_stage_state {
    struct place place;
    char given[PATH_MAX]; /* the path as the caller wrote it: its mount point, not ours */
    struct job found;  /* key: the errno in digits, DW path, PFS path unused */
    size_t at;
};

static int note(void *context, const char *path, const char *below) {
    dw_failed_stage_t *failed = context;
    struct record record;
    char key[KEY_SIZE], number[16], shown[PATH_MAX];
    if (key_of(AT_FDCWD, path, key) || record_read(&failed->place, key, &record) ||
        record.state != FAILED)
        return 0;
    snprintf(number, sizeof number, "%d", record.error);
    int error = join(shown, failed->given, below);
    return error ? error : job_add(&failed->found, number, shown, "");
}

int dw_open_failed_stage(const char *dw_instance_path, dw_failed_stage_t **walked) {
    if (!walked)
        return -EINVAL;
    dw_failed_stage_t *failed = calloc(1, sizeof *failed);
    if (!failed)
        return -ENOMEM;
    int error = place_of(dw_instance_path, 0, &failed->place);
    if (!error)
        snprintf(failed->given, PATH_MAX, "%s", dw_instance_path);
    if (!error)
        error = walk(failed->place.path, NULL, note, failed);
    if (error) {
        free(failed->found.text);
        free(failed);
        return error;
    }
    *walked = failed;
    return 0;
}

/* A buffer that is too short gets -ENAMETOOLONG, and the same path again at the next call. */
int dw_read_failed_stage(dw_failed_stage_t *failed, char *path, int path_size, int *stage_errno) {
    const char *number, *dw, *unused;
    if (!failed || !path || !stage_errno || path_size < 0)
        return -EINVAL;
    size_t next = failed->at;
    if (!job_next(&failed->found, &next, &number, &dw, &unused))
        return 0;
    if (strlen(dw) >= (size_t)path_size)
        return -ENAMETOOLONG;
    failed->at = next;
    strcpy(path, dw);
    *stage_errno = atoi(number);
    return (int)strlen(dw);
}

int dw_close_failed_stage(dw_failed_stage_t *failed) {
    if (!failed)
        return -EINVAL;
    free(failed->found.text);
    free(failed);
    return 0;
}
