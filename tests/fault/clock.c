/* The time of day of a process, set from outside: loaded by LD_PRELOAD. The file CLOCK_OFFSET holds the
   seconds that are added to it, for processes whose command line (words joined by blanks) matches the
   shell pattern CLOCK_COMMAND, by default all. The monotonic clock, timers and the times of files stay true. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int applies;

__attribute__((constructor)) static void begin(void) {
    const char *command = getenv("CLOCK_COMMAND");
    char words[8192] = "";
    int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY);
    ssize_t size = syscall(SYS_read, file, words, sizeof words - 1);
    syscall(SYS_close, file);
    for (ssize_t at = 0; at < size - 1; at++)
        if (!words[at])
            words[at] = ' ';
    applies = !command || fnmatch(command, words, 0) == 0;
}

static long offset(void) {
    const char *path = applies ? getenv("CLOCK_OFFSET") : NULL;
    char text[32] = "";
    int file = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY) : -1;
    if (file < 0)
        return 0;
    ssize_t size = syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    return size > 0 ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += offset();
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *to) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (to)
        *to = exact.tv_sec;
    return exact.tv_sec;
}
