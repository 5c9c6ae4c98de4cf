/* A client of libdatawarp: one call a process, its result on standard output.
 *
 *   client out|deferred DW PFS      client revoke|activate DW
 *   client in DW PFS                client query|wait|terminate DW
 *   client dir-out|dir-in DW PFS    client dir-query|dir-wait|dir-terminate|dir-revoke DW
 *   client list-out PFS DW...       client list-in DW PFS...      client list-query DW...
 *   client failed PATH              client stripes FILE [SIZE WIDTH]
 */
#include <datawarp.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int counts(int result, const int *n) {
    if (result == 0)
        printf("complete=%d pending=%d deferred=%d failed=%d\n", n[0], n[1], n[2], n[3]);
    return result;
}

static int failed(const char *path) {
    dw_failed_stage_t *walk;
    char name[4096];
    int number, length, result = dw_open_failed_stage(path, &walk);
    if (result)
        return result;
    while ((length = dw_read_failed_stage(walk, name, sizeof name, &number)) > 0)
        printf("%d %d %s\n", number, length == (int)strlen(name), name);
    result = dw_close_failed_stage(walk);
    return length < 0 ? length : result;
}

static int stripes(int count, char **words) {
    int size, width, first;
    int fd = open(words[0], O_RDWR | O_CREAT, 0644);
    int result = count > 2 ? dw_set_stripe_configuration(fd, atoi(words[1]), atoi(words[2])) : 0;
    if (!result)
        result = dw_get_stripe_configuration(fd, &size, &width, &first);
    if (!result)
        printf("size=%d width=%d\n", size, width);
    close(fd);
    return result;
}

static int call(int count, char **words) {
    const char *what = words[0], *a = words[1], *b = count > 2 ? words[2] : NULL;
    const char **rest = (const char **)words + 2;
    int n[4];
    if (!strcmp(what, "out"))
        return dw_stage_file_out(a, b, DW_STAGE_IMMEDIATE);
    if (!strcmp(what, "deferred"))
        return dw_stage_file_out(a, b, DW_STAGE_AT_JOB_END);
    if (!strcmp(what, "revoke"))
        return dw_stage_file_out(a, NULL, DW_REVOKE_STAGE_AT_JOB_END);
    if (!strcmp(what, "activate"))
        return dw_stage_file_out(a, NULL, DW_ACTIVATE_DEFERRED_STAGE);
    if (!strcmp(what, "in"))
        return dw_stage_file_in(a, b);
    if (!strcmp(what, "query"))
        return counts(dw_query_file_stage(a, n, n + 1, n + 2, n + 3), n);
    if (!strcmp(what, "wait"))
        return dw_wait_file_stage(a);
    if (!strcmp(what, "terminate"))
        return dw_terminate_file_stage(a);
    if (!strcmp(what, "dir-out"))
        return dw_stage_directory_out(a, b, DW_STAGE_IMMEDIATE);
    if (!strcmp(what, "dir-deferred"))
        return dw_stage_directory_out(a, b, DW_STAGE_AT_JOB_END);
    if (!strcmp(what, "dir-revoke"))
        return dw_stage_directory_out(a, NULL, DW_REVOKE_STAGE_AT_JOB_END);
    if (!strcmp(what, "dir-in"))
        return dw_stage_directory_in(a, b);
    if (!strcmp(what, "dir-query"))
        return counts(dw_query_directory_stage(a, n, n + 1, n + 2, n + 3), n);
    if (!strcmp(what, "dir-wait"))
        return dw_wait_directory_stage(a);
    if (!strcmp(what, "dir-terminate"))
        return dw_terminate_directory_stage(a);
    if (!strcmp(what, "list-out"))
        return dw_stage_list_out(rest, a, DW_STAGE_IMMEDIATE);
    if (!strcmp(what, "list-in"))
        return dw_stage_list_in(a, rest);
    if (!strcmp(what, "list-query"))
        return counts(dw_query_list_stage(rest - 1, n, n + 1, n + 2, n + 3), n);
    if (!strcmp(what, "failed"))
        return failed(a);
    if (!strcmp(what, "stripes"))
        return stripes(count - 1, words + 1);
    return 1;
}

int main(int count, char **words) {
    if (count < 3)
        return 2;
    printf("%d\n", call(count - 1, words + 1));
    return 0;
}
