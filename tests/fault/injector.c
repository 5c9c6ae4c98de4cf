/* Makes system calls of a process fail, below its language: loaded by LD_PRELOAD.

   INJECT_COMMAND  shell pattern of the command lines (words joined by blanks) that it applies to
   INJECT_CALL     open, read, write, rename, fsync, unlink or mkdir, and what stands for them (openat,
                   pread, writev, copy_file_range ...)
   INJECT_PATH     shell pattern of the path; of rename that of the target
   INJECT_FIRST    the number of the matching call, from 1, that fails first
   INJECT_TIMES    how many fail
   INJECT_ERRNO    the number of the error
   INJECT_LOG      a file that receives a line for each call that was made to fail

   A process counts for itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char call_[32], path_[PATH_MAX], log_[PATH_MAX];
static long first_, times_, errno_, count_;
static int applies;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
    const char *command = getenv("INJECT_COMMAND");
    char words[8192];
    if (!command)
        return;
    int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY);
    ssize_t size = syscall(SYS_read, file, words, sizeof words - 1);
    syscall(SYS_close, file);
    if (size <= 0)
        return;
    words[size] = 0;
    for (ssize_t at = 0; at < size - 1; at++)
        if (!words[at])
            words[at] = ' ';
    snprintf(call_, sizeof call_, "%s", getenv("INJECT_CALL"));
    snprintf(path_, sizeof path_, "%s", getenv("INJECT_PATH"));
    snprintf(log_, sizeof log_, "%s", getenv("INJECT_LOG"));
    first_ = atol(getenv("INJECT_FIRST"));
    times_ = atol(getenv("INJECT_TIMES"));
    errno_ = atol(getenv("INJECT_ERRNO"));
    applies = fnmatch(command, words, 0) == 0;
}

/* Whether this call is to fail; errno is set then. */
static int fails(const char *call, const char *path) {
    if (!applies || strcmp(call, call_) || !path || fnmatch(path_, path, 0))
        return 0;
    pthread_mutex_lock(&lock);
    long number = ++count_;
    pthread_mutex_unlock(&lock);
    if (number < first_ || number >= first_ + times_)
        return 0;
    char line[PATH_MAX + 64];
    int size = snprintf(line, sizeof line, "%ld %s %s\n", (long)getpid(), call, path);
    int file = (int)syscall(SYS_openat, AT_FDCWD, log_, O_WRONLY | O_CREAT | O_APPEND, 0600);
    syscall(SYS_write, file, line, (size_t)size);
    syscall(SYS_close, file);
    errno = (int)errno_;
    return 1;
}

static int fails_at(const char *call, int file) {
    char name[64], path[PATH_MAX];
    if (!applies || strcmp(call, call_))
        return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t size = readlink(name, path, sizeof path - 1);
    if (size <= 0)
        return 0;
    path[size] = 0;
    return fails(call, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                                                  \
    int name(const char *path, int flags, ...) {                                    \
        va_list rest;                                                               \
        va_start(rest, flags);                                                      \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;     \
        va_end(rest);                                                               \
        return fails("open", path) ? -1 : REAL(name)(path, flags, mode);            \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                \
    int name(int folder, const char *path, int flags, ...) {                        \
        va_list rest;                                                               \
        va_start(rest, flags);                                                      \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;     \
        va_end(rest);                                                               \
        return fails("open", path) ? -1 : REAL(name)(folder, path, flags, mode);    \
    }
OPENAT(openat)
OPENAT(openat64)

FILE *fopen(const char *path, const char *mode) {
    return fails("open", path) ? NULL : REAL(fopen)(path, mode);
}
FILE *fopen64(const char *path, const char *mode) {
    return fails("open", path) ? NULL : REAL(fopen64)(path, mode);
}

ssize_t read(int file, void *to, size_t size) {
    return fails_at("read", file) ? -1 : REAL(read)(file, to, size);
}
ssize_t pread(int file, void *to, size_t size, off_t at) {
    return fails_at("read", file) ? -1 : REAL(pread)(file, to, size, at);
}
ssize_t pread64(int file, void *to, size_t size, off64_t at) {
    return fails_at("read", file) ? -1 : REAL(pread64)(file, to, size, at);
}
ssize_t readv(int file, const struct iovec *to, int count) {
    return fails_at("read", file) ? -1 : REAL(readv)(file, to, count);
}
ssize_t write(int file, const void *from, size_t size) {
    return fails_at("write", file) ? -1 : REAL(write)(file, from, size);
}
ssize_t pwrite(int file, const void *from, size_t size, off_t at) {
    return fails_at("write", file) ? -1 : REAL(pwrite)(file, from, size, at);
}
ssize_t pwrite64(int file, const void *from, size_t size, off64_t at) {
    return fails_at("write", file) ? -1 : REAL(pwrite64)(file, from, size, at);
}
ssize_t writev(int file, const struct iovec *from, int count) {
    return fails_at("write", file) ? -1 : REAL(writev)(file, from, count);
}
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t size, unsigned flags) {
    if (fails_at("read", in) || fails_at("write", out))
        return -1;
    return REAL(copy_file_range)(in, from, out, to, size, flags);
}
ssize_t sendfile64(int out, int in, off64_t *from, size_t size) {
    ssize_t (*real)(int, int, off64_t *, size_t) =
        (ssize_t(*)(int, int, off64_t *, size_t))dlsym(RTLD_NEXT, "sendfile64");
    return fails_at("read", in) || fails_at("write", out) ? -1 : real(out, in, from, size);
}
ssize_t sendfile(int out, int in, off_t *from, size_t size) {
    return sendfile64(out, in, (off64_t *)from, size);
}
int fsync(int file) {
    return fails_at("fsync", file) ? -1 : REAL(fsync)(file);
}
int fdatasync(int file) {
    return fails_at("fsync", file) ? -1 : REAL(fdatasync)(file);
}
int rename(const char *from, const char *to) {
    return fails("rename", to) ? -1 : REAL(rename)(from, to);
}
int renameat(int a, const char *from, int b, const char *to) {
    return fails("rename", to) ? -1 : REAL(renameat)(a, from, b, to);
}
int unlink(const char *path) {
    return fails("unlink", path) ? -1 : REAL(unlink)(path);
}
int mkdir(const char *path, mode_t mode) {
    return fails("mkdir", path) ? -1 : REAL(mkdir)(path, mode);
}
