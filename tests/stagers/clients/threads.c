/* A program with threads, a wait for any child and a SIGCHLD handler of its own, that stages from
 * all threads.
 *
 *     threads /dw/folder /pfs/folder FILES
 *
 * Exit code 0 when all arrived and the library left no trace: no signal, no child, no descriptor.
 */
#include <datawarp.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4

static volatile sig_atomic_t children;
static volatile int over;
static const char *from, *to;
static int files;

static void ended(int signal) {
    (void)signal;
    children++;
}

static int descriptors(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

static void *work(void *argument) {
    long thread = (long)argument, bad = 0;
    for (int i = 0; i < files; i++) {
        char dw[4096], pfs[4096];
        int complete, pending, deferred, failed;
        snprintf(dw, sizeof dw, "%s/%ld.%d", from, thread, i);
        snprintf(pfs, sizeof pfs, "%s/%ld.%d", to, thread, i);
        FILE *file = fopen(dw, "w");
        if (!file || fputs(dw, file) < 0 || fclose(file) ||
            dw_stage_file_out(dw, pfs, DW_STAGE_IMMEDIATE) || dw_wait_file_stage(dw) ||
            dw_query_file_stage(dw, &complete, &pending, &deferred, &failed) || complete != 1)
            bad++;
    }
    return (void *)bad;
}

/* Takes every child that ends, as a program with children of its own does. */
static void *reap(void *argument) {
    long taken = 0;
    (void)argument;
    while (!__atomic_load_n(&over, __ATOMIC_SEQ_CST)) {
        taken += waitpid(-1, NULL, WNOHANG) > 0;
        usleep(100);
    }
    return (void *)taken;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS], reaper;
    struct sigaction action;
    void *bad, *taken;
    int failures = 0;
    if (argc != 4)
        return 100;
    from = argv[1];
    to = argv[2];
    files = atoi(argv[3]);
    memset(&action, 0, sizeof action);
    action.sa_handler = ended;
    sigaction(SIGCHLD, &action, NULL);
    int before = descriptors();
    if (pthread_create(&reaper, NULL, reap, NULL))
        return 101;
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            return 101;
    for (int i = 0; i < THREADS; i++)
        failures += pthread_join(threads[i], &bad) || bad;
    __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
    pthread_join(reaper, &taken);
    if (failures)
        return 102;
    if (taken || waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
        return 103;
    if (descriptors() != before)
        return 104;
    return children ? 105 : 0;
}
