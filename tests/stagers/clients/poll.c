/* Looks every millisecond how the stages of some files stand, until none is under way.
 * Prints the last counts and whether any was ever seen pending. Exit code: 0, or an errno. */
#include <datawarp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv) {
    const struct timespec pause = {0, 1000000};
    int seen = 0;
    (void)argc;
    for (;;) {
        int complete, pending, deferred, failed;
        int ret = dw_query_list_stage((const char **)argv + 1, &complete, &pending, &deferred,
                                      &failed);
        if (ret < 0) {
            fprintf(stderr, "query: %s\n", strerror(-ret));
            return -ret;
        }
        if (pending == 0) {
            printf("complete %d deferred %d failed %d seen %d\n", complete, deferred, failed, seen);
            return 0;
        }
        seen = 1;
        nanosleep(&pause, NULL);
    }
}
