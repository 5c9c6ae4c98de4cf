/* One call of libdatawarp from a shell: prints what it returned, then what it gave back.
 *
 *     dwcall [--die] file_out /dw/file /pfs/file now
 */
#include <datawarp.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void ignore(int signal) {
    (void)signal;
}

static enum dw_stage_type type_of(const char *word) {
    static const char *const words[] = {"now", "later", "revoke", "activate"};
    for (int i = 0; i < 4; i++)
        if (strcmp(word, words[i]) == 0)
            return (enum dw_stage_type)i;
    return (enum dw_stage_type)atoi(word);
}

/* "-" stands for NULL. */
static const char *word(const char *text) {
    return strcmp(text, "-") == 0 ? NULL : text;
}

int main(int argc, char **argv) {
    int counts[4] = {-1, -1, -1, -1}, result, die = 0;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = ignore; /* without SA_RESTART: a call that can be interrupted will be */
    sigaction(SIGUSR1, &action, NULL);
    if (argc > 1 && strcmp(argv[1], "--die") == 0) {
        die = 1;
        argv++;
        argc--;
    }
    if (argc < 3)
        return 2;
    const char *call = argv[1], **list = (const char **)argv + 2;
    int n = argc - 2;
    if (strcmp(call, "file_out") == 0 && n == 3)
        result = dw_stage_file_out(word(list[0]), word(list[1]), type_of(list[2]));
    else if (strcmp(call, "directory_out") == 0 && n == 3)
        result = dw_stage_directory_out(list[0], word(list[1]), type_of(list[2]));
    else if (strcmp(call, "list_out") == 0 && n >= 2) { /* type, folder, files */
        result = dw_stage_list_out(list + 2, word(list[1]), type_of(list[0]));
    } else if (strcmp(call, "file_in") == 0 && n == 2)
        result = dw_stage_file_in(list[0], word(list[1]));
    else if (strcmp(call, "directory_in") == 0 && n == 2)
        result = dw_stage_directory_in(list[0], list[1]);
    else if (strcmp(call, "list_in") == 0)
        result = dw_stage_list_in(list[0], list + 1);
    else if (strcmp(call, "query_file") == 0)
        result = dw_query_file_stage(list[0], counts, counts + 1, counts + 2, counts + 3);
    else if (strcmp(call, "query_directory") == 0)
        result = dw_query_directory_stage(list[0], counts, counts + 1, counts + 2, counts + 3);
    else if (strcmp(call, "query_list") == 0)
        result = dw_query_list_stage(list, counts, counts + 1, counts + 2, counts + 3);
    else if (strcmp(call, "wait_file") == 0)
        result = dw_wait_file_stage(list[0]);
    else if (strcmp(call, "wait_directory") == 0)
        result = dw_wait_directory_stage(list[0]);
    else if (strcmp(call, "wait_list") == 0)
        result = dw_wait_list_stage(list);
    else if (strcmp(call, "terminate_file") == 0)
        result = dw_terminate_file_stage(list[0]);
    else if (strcmp(call, "terminate_directory") == 0)
        result = dw_terminate_directory_stage(list[0]);
    else if (strcmp(call, "terminate_list") == 0)
        result = dw_terminate_list_stage(list);
    else if (strcmp(call, "concurrency") == 0 && n == 2)
        result = dw_set_stage_concurrency(list[0], (unsigned int)atoi(list[1]));
    else if (strcmp(call, "owns") == 0)
        result = dw_emulator_owns(list[0]);
    else
        return 2;
    printf("%d", result);
    if (strncmp(call, "query", 5) == 0)
        for (int i = 0; i < 4; i++)
            printf(" %d", counts[i]);
    putchar('\n');
    fflush(stdout);
    if (die)
        kill(getpid(), SIGKILL);
    return 0;
}
