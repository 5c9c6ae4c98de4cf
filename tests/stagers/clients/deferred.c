/* Puts the results off to the end of the job, each new one instead of the one before: whatever
 * happens, the job's end brings the last whole result home.
 *
 *     deferred $DW_JOB_STRIPED /pfs/folder ROUNDS
 */
#include <datawarp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check(const char *what, int ret) {
    if (ret < 0)
        fprintf(stderr, "%s: %s\n", what, strerror(-ret));
    return ret < 0;
}

int main(int argc, char **argv) {
    char name[4096], before[4096] = "", pfs[4096];
    int complete, pending, deferred, failed;
    if (argc != 4)
        return 100;
    for (int i = 0; i < atoi(argv[3]); i++) {
        snprintf(name, sizeof name, "%s/result.%d", argv[1], i);
        snprintf(pfs, sizeof pfs, "%s/result", argv[2]);
        FILE *file = fopen(name, "w");
        if (!file || fprintf(file, "result %d\n", i) < 0 || fclose(file))
            return 101;
        if (check("put off", dw_stage_file_out(name, pfs, DW_STAGE_AT_JOB_END)))
            return 102;
        if (before[0] &&
            check("revoke", dw_stage_file_out(before, NULL, DW_REVOKE_STAGE_AT_JOB_END)))
            return 103;
        strcpy(before, name);
    }
    if (check("query", dw_query_directory_stage(argv[1], &complete, &pending, &deferred, &failed)))
        return 104;
    printf("complete %d pending %d deferred %d failed %d\n", complete, pending, deferred, failed);
    return 0;
}
