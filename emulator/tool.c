/* dw-emulator: looks at an instance, ends a job, makes trouble; and is the copier's program. */
#include "emulator.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "dw-emulator: the Burstlens emulator of DataWarp's libdatawarp\n"
    "usage: dw-emulator status PATH             the stages of an instance, or of one file\n"
    "       dw-emulator data-out INSTANCE       carry out what was deferred, wait for the rest\n"
    "       dw-emulator faults INSTANCE [WORD]  make trouble (docs/emulator.md), or none\n";

static int complain(const char *path, int error) {
    const char *text = error == -EINVAL ? "no instance, or never staged" : strerror(-error);
    fprintf(stderr, "dw-emulator: %s: %s\n", path, text);
    return 1;
}

typedef int action(const struct record *record);

/* Do it with each record of an instance; returns how often it returned non-zero. */
static int over(const struct place *place, action *act) {
    struct record record;
    int bad = 0;
    DIR *folder = opendir(place->state);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strchr(entry->d_name, '-') && !record_read(place, entry->d_name, &record))
            bad += act(&record) != 0;
    if (folder)
        closedir(folder);
    return bad;
}

static int show(const struct record *record) {
    const char *state = record->state == PENDING    ? "pending"
                        : record->state == DEFERRED ? "deferred"
                        : record->state == COMPLETE ? "complete"
                                                    : "failed";
    printf("%-8s  %s %s %s", state, record->dw, record->direction == 'i' ? "<-" : "->",
           record->pfs);
    if (record->state == FAILED)
        printf("  (%s)", strerror(record->error));
    putchar('\n');
    return 0;
}

static int activate(const struct record *record) {
    if (record->state != DEFERRED)
        return 0;
    int error = dw_stage_file_out(record->dw, NULL, DW_ACTIVATE_DEFERRED_STAGE);
    return error ? complain(record->dw, error) : 0;
}

static int wait_for(const struct record *record) {
    if (record->state == PENDING)
        dw_wait_file_stage(record->dw); /* there is nothing to wait for if the file has gone */
    return 0;
}

static int print_failed(const struct record *record) {
    int counts[4] = {0};
    dw_query_file_stage(record->dw, counts, counts + 1, counts + 2, counts + 3);
    return counts[3] ? complain(record->dw, -record->error) : 0;
}

static int status(const char *path) {
    struct place place;
    struct record record;
    char key[KEY_SIZE];
    int error = place_of(path, 0, &place);
    if (!error && strcmp(place.path, place.root) == 0)
        return over(&place, show);
    if (!error)
        error = stage_of(path, &place, key, &record);
    return error ? complain(path, error) : show(&record);
}

static int data_out(const char *path) {
    struct place place;
    int error = place_of(path, 0, &place);
    if (error)
        return complain(path, error);
    int bad = over(&place, activate);
    over(&place, wait_for);
    return bad + over(&place, print_failed) > 0;
}

static int faults(const char *path, char **words) {
    struct place place;
    int error = place_of(path, 0, &place);
    int lock = error ? error : state_lock(&place); /* makes the state folder */
    if (lock < 0)
        return complain(path, lock);
    error = faults_write(place.state, words);
    state_unlock(lock);
    if (error == -EINVAL) {
        fprintf(stderr, "dw-emulator: a word is none of bandwidth=N, delay=S, WHAT:GLOB[:COUNT]\n");
        return 2;
    }
    return error ? complain(path, error) : 0;
}

/* In a process of its own: it keeps only the caller's environment and its umask. */
static int copy(const char *state, const char *number) {
    DIR *open_files = opendir("/proc/self/fd");
    int own = open_files ? dirfd(open_files) : -1;
    for (struct dirent *entry; open_files && (entry = readdir(open_files));) {
        int fd = atoi(entry->d_name);
        if (fd > 3 && fd != own)
            close(fd);
    }
    if (open_files)
        closedir(open_files);
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error of that stage */
    if (chdir("/"))
        return 1;
    return copier_run(state, strtoull(number, NULL, 10), 3) ? 1 : 0;
}

int main(int count, char **words) {
    if (count == 4 && strcmp(words[1], "copy") == 0)
        return copy(words[2], words[3]);
    if (count == 3 && strcmp(words[1], "status") == 0)
        return status(words[2]);
    if (count == 3 && strcmp(words[1], "data-out") == 0)
        return data_out(words[2]);
    if (count >= 3 && strcmp(words[1], "faults") == 0)
        return faults(words[2], words + 3);
    fputs(usage, stderr);
    return 2;
}
