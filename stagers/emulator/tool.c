/* dw-emulator: the copier, and what people want of the emulator on a shell. */
#include "emulator.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "dw-emulator: an emulator of Cray's libdatawarp on ordinary directories.\n"
    "\n"
    "    dw-emulator status PATH              how the stages of PATH and below stand\n"
    "    dw-emulator data-out INSTANCE        carry out what was put off to the end of the job\n"
    "    dw-emulator faults INSTANCE [RULE..] trouble on purpose: EIO:GLOB, hang:GLOB:1,\n"
    "                                         short:GLOB, kill:GLOB, bandwidth=BYTES, delay=S\n";

static int complain(const char *path, int error) {
    fprintf(stderr, "dw-emulator: %s: %s\n", path, strerror(-error));
    return 1;
}

typedef int doing(const struct place *place, const char *key, const struct record *record);

static int each(const struct place *place, doing *doing) {
    struct record record;
    int error = 0;
    DIR *folder = opendir(place->state);
    for (struct dirent *entry; folder && !error && (entry = readdir(folder));)
        if (strchr(entry->d_name, '-') && !record_read(place, entry->d_name, &record))
            error = doing(place, entry->d_name, &record);
    if (folder)
        closedir(folder);
    return error;
}

static int print(const struct place *place, const char *key, const struct record *record) {
    static const char *const words[] = {"complete", "pending", "deferred", "failed"};
    static const char states[] = {COMPLETE, PENDING, DEFERRED, FAILED, '\0'};
    size_t length = strlen(place->path);
    (void)key;
    const char *state = strchr(states, record->state);
    if (strncmp(record->dw, place->path, length) == 0 && state)
        printf("%-8s  %s %s %s%s%s\n", words[state - states], record->dw,
               record->direction == 'i' ? "<-" : "->", record->pfs, record->error ? "  " : "",
               record->error ? strerror(record->error) : "");
    return 0;
}

static int activate(const struct place *place, const char *key, const struct record *record) {
    (void)place;
    (void)key;
    if (record->state != DEFERRED)
        return 0;
    int error = dw_stage_file_out(record->dw, NULL, DW_ACTIVATE_DEFERRED_STAGE);
    return error ? error : dw_wait_file_stage(record->dw);
}

int main(int count, char **words) {
    struct place place;
    if (count == 4 && strcmp(words[1], "copy") == 0)
        return copier_run(words[2], strtoull(words[3], NULL, 10), 3) ? 1 : 0;
    if (count < 3) {
        fputs(usage, count == 1 ? stdout : stderr);
        return count == 1 ? 0 : 2;
    }
    int error = place_of(words[2], 0, &place);
    if (error)
        return complain(words[2], error);
    if (strcmp(words[1], "status") == 0)
        error = each(&place, print);
    else if (strcmp(words[1], "data-out") == 0)
        error = each(&place, activate);
    else if (strcmp(words[1], "faults") == 0) {
        int lock = state_lock(&place);
        error = lock < 0 ? lock : faults_write(place.state, words + 3);
        if (lock >= 0)
            state_unlock(lock);
    } else {
        fputs(usage, stderr);
        return 2;
    }
    return error ? complain(words[2], error) : 0;
}
