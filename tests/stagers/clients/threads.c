/* A program with threads, a SIGCHLD handler and children of its own, which stages many files. */
#include <datawarp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8
#define FILES 10

static const char *from, *to;
static volatile sig_atomic_t children;
static int bad;

static void on_child(int number) {
    (void)number;
    children++;
}

static void *stage(void *argument) {
    int complete, pending, deferred, failed;
    char dw[4096], pfs[4096];
    for (int i = 0; i < FILES; i++) {
        long number = (long)argument * FILES + i;
        snprintf(dw, sizeof dw, "%s/%ld", from, number);
        snprintf(pfs, sizeof pfs, "%s/%ld", to, number);
        FILE *file = fopen(dw, "w");
        fprintf(file, "%ld\n", number);
        fclose(file);
        if (dw_stage_file_out(dw, pfs, DW_STAGE_IMMEDIATE) || dw_wait_file_stage(dw) ||
            dw_query_file_stage(dw, &complete, &pending, &deferred, &failed) || complete != 1)
            __atomic_add_fetch(&bad, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

int main(int count, char **words) {
    pthread_t threads[THREADS];
    if (count != 3)
        return 2;
    from = words[1];
    to = words[2];
    signal(SIGCHLD, on_child);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, stage, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int strangers = children, left = waitpid(-1, NULL, WNOHANG | __WALL) != -1;
    printf("bad=%d signals=%d children=%d\n", bad, strangers, left);
    return 0;
}
