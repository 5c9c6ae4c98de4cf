/* Writes checkpoints to the burst buffer and drains them to the parallel file system.
 *
 *     checkpoint $DW_JOB_STRIPED /pfs/folder COUNT
 *
 * One stage a checkpoint, started as soon as it is written; at the end all are waited for, and what
 * failed is listed and staged once more. Exit code: how many could not be brought home.
 */
#include <datawarp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int stage(const char *name, const char *from, const char *to) {
    char dw[4096], pfs[4096];
    snprintf(dw, sizeof dw, "%s/%s", from, name);
    snprintf(pfs, sizeof pfs, "%s/%s", to, name);
    int ret = dw_stage_file_out(dw, pfs, DW_STAGE_IMMEDIATE);
    if (ret < 0)
        fprintf(stderr, "%s: %s\n", dw, strerror(-ret));
    return ret;
}

static int failures(const char *root, const char *to, int again) {
    dw_failed_stage_t *walk;
    char path[4096];
    int reason, length, count = 0, ret = dw_open_failed_stage(root, &walk);
    if (ret < 0) {
        fprintf(stderr, "%s: %s\n", root, strerror(-ret));
        return -1;
    }
    while ((length = dw_read_failed_stage(walk, path, sizeof path, &reason)) > 0) {
        const char *name = strrchr(path, '/') + 1;
        printf("failed %s %d %d\n", path, abs(reason), length == (int)strlen(path));
        count++;
        if (again)
            stage(name, root, to);
    }
    ret = dw_close_failed_stage(walk);
    return length < 0 || ret < 0 ? -1 : count;
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 100;
    for (int i = 0; i < atoi(argv[3]); i++) {
        char name[64], path[4096];
        snprintf(name, sizeof name, "checkpoint.%04d", i);
        snprintf(path, sizeof path, "%s/%s", argv[1], name);
        FILE *file = fopen(path, "w");
        if (!file)
            return 101;
        for (int line = 0; line < 20000; line++)
            fprintf(file, "%d %d\n", i, line);
        if (fclose(file) || stage(name, argv[1], argv[2]) < 0)
            return 102;
    }
    for (int round = 0; round < 2; round++) {
        int complete, pending, deferred, failed;
        if (dw_wait_directory_stage(argv[1]) < 0 ||
            dw_query_directory_stage(argv[1], &complete, &pending, &deferred, &failed) < 0)
            return 103;
        printf("complete %d pending %d deferred %d failed %d\n", complete, pending, deferred,
               failed);
        int listed = failures(argv[1], argv[2], round == 0);
        if (listed != failed)
            return 104;
        if (round == 1)
            return failed;
    }
    return 105;
}
