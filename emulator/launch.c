/* Starts the copier as a process that is not a child of the caller.
 *
 * The caller may be any program, with threads and a SIGCHLD handler of its own. A first child
 * shares its memory and sends no signal when it ends (exit signal 0, so that a wait for any child
 * does not see it either); it spawns the copier in a session of its own and ends, which hands the
 * copier to init. Nothing but posix_spawn runs between the calls.
 */
#include "emulator.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK (256 << 10)

extern char **environ;

struct spawning {
    const char *program;
    char *const *words;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    int error;
};

static char program[PATH_MAX];

/* bin/dw-emulator beside the lib/ that this library was loaded from. */
static void find_program(void) {
    Dl_info found;
    char library[PATH_MAX];
    if (!dladdr(dw_emulator, &found) || !realpath(found.dli_fname, library))
        return;
    for (int level = 0; level < 2; level++) {
        char *slash = strrchr(library, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
    if (join(program, library[0] ? library : "/", "bin/dw-emulator"))
        program[0] = '\0';
}

static int between(void *argument) {
    struct spawning *one = argument;
    pid_t copier;
    one->error = posix_spawn(&copier, one->program, &one->files, &one->how, one->words, environ);
    return 0; /* which ends it */
}

static int spawn_detached(struct spawning *one) {
    sigset_t all, before;
    int error = 0, status;
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return -errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = clone(between, stack + STACK, CLONE_VM | CLONE_VFORK, one);
    if (child < 0)
        error = -errno;
    while (child > 0 && waitpid(child, &status, __WCLONE) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stack, STACK);
    return error ? error : -one->error;
}

/* Start the copier of a job, whose locked descriptor becomes its descriptor 3. */
int launch_copier(const char *state, unsigned long long number, int job) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_program);
    if (!program[0])
        return -ELIBACC;
    char text[24];
    char *const words[] = {program, "copy", (char *)state, text, NULL};
    struct spawning one = {.program = program, .words = words};
    sigset_t every, none;
    sigfillset(&every);
    sigemptyset(&none);
    snprintf(text, sizeof text, "%llu", number);
    int error = -posix_spawn_file_actions_init(&one.files);
    if (error)
        return error;
    error = -posix_spawnattr_init(&one.how);
    if (!error) {
        posix_spawnattr_setsigdefault(&one.how, &every);
        posix_spawnattr_setsigmask(&one.how, &none);
        posix_spawnattr_setflags(&one.how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
                                               POSIX_SPAWN_SETSIGMASK);
        for (int fd = 0; fd < 3 && !error; fd++)
            error = -posix_spawn_file_actions_addopen(&one.files, fd, "/dev/null", O_RDWR, 0);
        if (!error)
            error = -posix_spawn_file_actions_adddup2(&one.files, job, 3);
        if (!error)
            error = spawn_detached(&one);
        posix_spawnattr_destroy(&one.how);
    }
    posix_spawn_file_actions_destroy(&one.files);
    return error == -ENOENT ? -ELIBACC : error;
}
