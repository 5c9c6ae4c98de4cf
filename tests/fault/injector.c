/* Makes system calls of a process fail, below its language: loaded by LD_PRELOAD.

   INJECT_COMMAND  shell pattern of the command lines (words joined by blanks) that it applies to
   INJECT_CALL     shell pattern of the call: open, read, pread, write, pwrite, copy, fsync, rename,
                   link, symlink, unlink, mkdir, rmdir, stat, opendir, truncate, chmod, close, statvfs,
                   connect, send, exec (each stands for its family: openat, fopen, writev ...)
   INJECT_PATH     shell pattern of the path, of rename and link that of the target, of a socket
                   that of "inet:ADDRESS:PORT" or "unix:PATH"
   INJECT_FIRST    the number of the matching call, from 1, that is disturbed first; each process counts
   INJECT_TIMES    how many are disturbed
   INJECT_ONCE     a file that the first disturbed process creates: no other process is disturbed
   INJECT_EFFECT   error (not made, fails; the default), done (made, and reported as failed), short (half
                   of the bytes), hang (made INJECT_HANG_S seconds later) or none (only logged)
   INJECT_ERRNO    the number of the error
   INJECT_LOG      a file that receives a line for each disturbed call: process, call, path */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { NOTHING, ERROR, DONE, SHORT, HANG };

static char call_[32], path_[PATH_MAX], log_[PATH_MAX], once_[PATH_MAX];
static long first_, times_, errno_, hang_, count_;
static int effect_, applies, mine;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

static void copy_setting(char *to, size_t size, const char *name) {
    const char *text = getenv(name);
    snprintf(to, size, "%s", text ? text : "");
}

__attribute__((constructor)) static void begin(void) {
    const char *command = getenv("INJECT_COMMAND"), *effect = getenv("INJECT_EFFECT");
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
    copy_setting(call_, sizeof call_, "INJECT_CALL");
    copy_setting(path_, sizeof path_, "INJECT_PATH");
    copy_setting(log_, sizeof log_, "INJECT_LOG");
    copy_setting(once_, sizeof once_, "INJECT_ONCE");
    first_ = number("INJECT_FIRST", 1);
    times_ = number("INJECT_TIMES", 1);
    errno_ = number("INJECT_ERRNO", EIO);
    hang_ = number("INJECT_HANG_S", 5);
    effect_ = !effect || !strcmp(effect, "error") ? ERROR
              : !strcmp(effect, "done")           ? DONE
              : !strcmp(effect, "short")          ? SHORT
              : !strcmp(effect, "hang")           ? HANG
                                                  : NOTHING;
    applies = fnmatch(command, words, 0) == 0;
}

/* What is done to this call: NOTHING, ERROR, DONE or SHORT. A hang lies behind it already. */
static int disturbed(const char *call, const char *path) {
    if (!applies || fnmatch(call_, call, 0) || !path || fnmatch(path_, path, 0))
        return NOTHING;
    long this = __atomic_add_fetch(&count_, 1, __ATOMIC_SEQ_CST);
    if (effect_ != NOTHING && (this < first_ || this >= first_ + times_))
        return NOTHING;
    int before = errno;
    if (*once_ && !mine) {
        int claim = (int)syscall(SYS_openat, AT_FDCWD, once_, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (claim < 0) {
            applies = 0;
            errno = before;
            return NOTHING;
        }
        syscall(SYS_close, claim);
        mine = 1;
    }
    char line[PATH_MAX + 64];
    int size = snprintf(line, sizeof line, "%ld %s %s\n", (long)getpid(), call, path);
    int file = (int)syscall(SYS_openat, AT_FDCWD, log_, O_WRONLY | O_CREAT | O_APPEND, 0666);
    syscall(SYS_write, file, line, (size_t)size);
    syscall(SYS_close, file);
    errno = before;
    if (effect_ != HANG)
        return effect_;
    struct timespec pause = {hang_, 0};
    while (nanosleep(&pause, &pause) && errno == EINTR)
        ;
    errno = before;
    return NOTHING;
}

/* The absolute path of one that is relative to a folder's descriptor. */
static const char *whole(int folder, const char *path, char *to) {
    char name[64], base[PATH_MAX];
    if (!path || *path == '/' || !applies)
        return path;
    if (folder == AT_FDCWD)
        snprintf(name, sizeof name, "/proc/self/cwd");
    else
        snprintf(name, sizeof name, "/proc/self/fd/%d", folder);
    ssize_t size = readlink(name, base, sizeof base - 1);
    if (size <= 0)
        return path;
    base[size] = 0;
    return snprintf(to, PATH_MAX, "%s/%s", base, path) < PATH_MAX ? to : path;
}

static const char *address(const struct sockaddr *peer, char *to) {
    char text[INET6_ADDRSTRLEN] = "";
    if (peer->sa_family == AF_UNIX) {
        snprintf(to, PATH_MAX, "unix:%s", ((const struct sockaddr_un *)peer)->sun_path);
    } else if (peer->sa_family == AF_INET) {
        const struct sockaddr_in *of = (const struct sockaddr_in *)peer;
        inet_ntop(AF_INET, &of->sin_addr, text, sizeof text);
        snprintf(to, PATH_MAX, "inet:%s:%d", text, ntohs(of->sin_port));
    } else if (peer->sa_family == AF_INET6) {
        const struct sockaddr_in6 *of = (const struct sockaddr_in6 *)peer;
        inet_ntop(AF_INET6, &of->sin6_addr, text, sizeof text);
        snprintf(to, PATH_MAX, "inet:%s:%d", text, ntohs(of->sin6_port));
    } else {
        return NULL;
    }
    return to;
}

static int disturbed_path(const char *call, int folder, const char *path) {
    char to[PATH_MAX];
    if (!applies || fnmatch(call_, call, 0))
        return NOTHING;
    return disturbed(call, whole(folder, path, to));
}

static int disturbed_file(const char *call, int file) {
    char name[64], path[PATH_MAX];
    if (!applies || fnmatch(call_, call, 0))
        return NOTHING;
    int before = errno;
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t size = readlink(name, path, sizeof path - 1);
    if (size > 0 && !strncmp(path, "socket:", 7)) {
        struct sockaddr_storage peer;
        socklen_t length = sizeof peer;
        if (getpeername(file, (struct sockaddr *)&peer, &length) ||
            !address((struct sockaddr *)&peer, path))
            size = 0;
        else
            size = (ssize_t)strlen(path);
    }
    errno = before;
    if (size <= 0)
        return NOTHING;
    path[size] = 0;
    return disturbed(call, path);
}

static long failed(void) {
    errno = (int)errno_;
    return -1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* A call without bytes to count: made or not, then its result or the error. */
#define PLAIN(how, made)                                                                           \
    int what = how;                                                                                \
    if (what == ERROR)                                                                             \
        return (__typeof__(made))failed();                                                         \
    __typeof__(made) result = made;                                                                \
    return what == DONE ? (__typeof__(made))failed() : result;

/* A call that moves `size` bytes. */
#define COUNTED(how, made)                                                                         \
    int what = how;                                                                                \
    if (what == ERROR)                                                                             \
        return failed();                                                                           \
    if (what == SHORT && size > 1)                                                                 \
        size /= 2;                                                                                 \
    ssize_t result = made;                                                                         \
    return what == DONE ? failed() : result;

/* The same with a list of buffers: short is its first one. */
#define LISTED(how, made)                                                                          \
    int what = how;                                                                                \
    if (what == ERROR)                                                                             \
        return failed();                                                                           \
    if (what == SHORT && count > 1)                                                                \
        count = 1;                                                                                 \
    ssize_t result = made;                                                                         \
    return what == DONE ? failed() : result;

#define OPENS(how, made)                                                                           \
    va_list rest;                                                                                  \
    va_start(rest, flags);                                                                         \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                        \
    va_end(rest);                                                                                  \
    int what = how;                                                                                \
    if (what == ERROR)                                                                             \
        return (int)failed();                                                                      \
    int result = made;                                                                             \
    if (what != DONE)                                                                              \
        return result;                                                                             \
    if (result >= 0)                                                                               \
        syscall(SYS_close, result);                                                                \
    return (int)failed();

int open(const char *path, int flags, ...) {
    OPENS(disturbed_path("open", AT_FDCWD, path), REAL(open)(path, flags, mode))
}
int open64(const char *path, int flags, ...) {
    OPENS(disturbed_path("open", AT_FDCWD, path), REAL(open64)(path, flags, mode))
}
int openat(int folder, const char *path, int flags, ...) {
    OPENS(disturbed_path("open", folder, path), REAL(openat)(folder, path, flags, mode))
}
int openat64(int folder, const char *path, int flags, ...) {
    OPENS(disturbed_path("open", folder, path), REAL(openat64)(folder, path, flags, mode))
}

#define FOPENS(name)                                                                               \
    FILE *name(const char *path, const char *mode) {                                               \
        int what = disturbed_path("open", AT_FDCWD, path);                                         \
        FILE *result = what == ERROR ? NULL : REAL(name)(path, mode);                              \
        if (what != ERROR && what != DONE)                                                         \
            return result;                                                                         \
        if (result)                                                                                \
            fclose(result);                                                                        \
        failed();                                                                                  \
        return NULL;                                                                               \
    }
FOPENS(fopen)
FOPENS(fopen64)

ssize_t read(int file, void *to, size_t size) {
    COUNTED(disturbed_file("read", file), REAL(read)(file, to, size))
}
ssize_t pread(int file, void *to, size_t size, off_t at) {
    COUNTED(disturbed_file("pread", file), REAL(pread)(file, to, size, at))
}
ssize_t pread64(int file, void *to, size_t size, off64_t at) {
    COUNTED(disturbed_file("pread", file), REAL(pread64)(file, to, size, at))
}
ssize_t readv(int file, const struct iovec *to, int count) {
    LISTED(disturbed_file("read", file), REAL(readv)(file, to, count))
}
ssize_t write(int file, const void *from, size_t size) {
    COUNTED(disturbed_file("write", file), REAL(write)(file, from, size))
}
ssize_t pwrite(int file, const void *from, size_t size, off_t at) {
    COUNTED(disturbed_file("pwrite", file), REAL(pwrite)(file, from, size, at))
}
ssize_t pwrite64(int file, const void *from, size_t size, off64_t at) {
    COUNTED(disturbed_file("pwrite", file), REAL(pwrite64)(file, from, size, at))
}
ssize_t writev(int file, const struct iovec *from, int count) {
    LISTED(disturbed_file("write", file), REAL(writev)(file, from, count))
}
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t size, unsigned flags) {
    COUNTED(disturbed_file("copy", out), REAL(copy_file_range)(in, from, out, to, size, flags))
}
ssize_t sendfile64(int out, int in, off64_t *from, size_t size) {
    ssize_t (*real)(int, int, off64_t *, size_t) =
        (ssize_t(*)(int, int, off64_t *, size_t))dlsym(RTLD_NEXT, "sendfile64");
    COUNTED(disturbed_file("copy", out), real(out, in, from, size))
}
ssize_t sendfile(int out, int in, off_t *from, size_t size) {
    return sendfile64(out, in, (off64_t *)from, size);
}
int fsync(int file) {
    PLAIN(disturbed_file("fsync", file), REAL(fsync)(file))
}
int fdatasync(int file) {
    PLAIN(disturbed_file("fsync", file), REAL(fdatasync)(file))
}
int close(int file) {
    PLAIN(disturbed_file("close", file), (int)syscall(SYS_close, file))
}
int ftruncate(int file, off_t size) {
    PLAIN(disturbed_file("truncate", file), REAL(ftruncate)(file, size))
}
int ftruncate64(int file, off64_t size) {
    PLAIN(disturbed_file("truncate", file), REAL(ftruncate64)(file, size))
}
int rename(const char *from, const char *to) {
    PLAIN(disturbed_path("rename", AT_FDCWD, to), REAL(rename)(from, to))
}
int renameat(int a, const char *from, int b, const char *to) {
    PLAIN(disturbed_path("rename", b, to), REAL(renameat)(a, from, b, to))
}
int link(const char *from, const char *to) {
    PLAIN(disturbed_path("link", AT_FDCWD, to), REAL(link)(from, to))
}
int linkat(int a, const char *from, int b, const char *to, int flags) {
    PLAIN(disturbed_path("link", b, to), REAL(linkat)(a, from, b, to, flags))
}
int symlink(const char *from, const char *to) {
    PLAIN(disturbed_path("symlink", AT_FDCWD, to), REAL(symlink)(from, to))
}
int unlink(const char *path) {
    PLAIN(disturbed_path("unlink", AT_FDCWD, path), REAL(unlink)(path))
}
int unlinkat(int folder, const char *path, int flags) {
    PLAIN(disturbed_path(flags & AT_REMOVEDIR ? "rmdir" : "unlink", folder, path),
          REAL(unlinkat)(folder, path, flags))
}
int rmdir(const char *path) {
    PLAIN(disturbed_path("rmdir", AT_FDCWD, path), REAL(rmdir)(path))
}
int mkdir(const char *path, mode_t mode) {
    PLAIN(disturbed_path("mkdir", AT_FDCWD, path), REAL(mkdir)(path, mode))
}
int mkdirat(int folder, const char *path, mode_t mode) {
    PLAIN(disturbed_path("mkdir", folder, path), REAL(mkdirat)(folder, path, mode))
}
int chmod(const char *path, mode_t mode) {
    PLAIN(disturbed_path("chmod", AT_FDCWD, path), REAL(chmod)(path, mode))
}
int stat(const char *restrict path, struct stat *restrict to) {
    PLAIN(disturbed_path("stat", AT_FDCWD, path), REAL(stat)(path, to))
}
int stat64(const char *restrict path, struct stat64 *restrict to) {
    PLAIN(disturbed_path("stat", AT_FDCWD, path), REAL(stat64)(path, to))
}
int lstat(const char *restrict path, struct stat *restrict to) {
    PLAIN(disturbed_path("stat", AT_FDCWD, path), REAL(lstat)(path, to))
}
int lstat64(const char *restrict path, struct stat64 *restrict to) {
    PLAIN(disturbed_path("stat", AT_FDCWD, path), REAL(lstat64)(path, to))
}
int fstat(int file, struct stat *to) {
    PLAIN(disturbed_file("stat", file), REAL(fstat)(file, to))
}
int fstat64(int file, struct stat64 *to) {
    PLAIN(disturbed_file("stat", file), REAL(fstat64)(file, to))
}
int fstatat(int folder, const char *restrict path, struct stat *restrict to, int flags) {
    PLAIN(disturbed_path("stat", folder, path), REAL(fstatat)(folder, path, to, flags))
}
int fstatat64(int folder, const char *restrict path, struct stat64 *restrict to, int flags) {
    PLAIN(disturbed_path("stat", folder, path), REAL(fstatat64)(folder, path, to, flags))
}
int statvfs(const char *restrict path, struct statvfs *restrict to) {
    PLAIN(disturbed_path("statvfs", AT_FDCWD, path), REAL(statvfs)(path, to))
}
int statvfs64(const char *restrict path, struct statvfs64 *restrict to) {
    PLAIN(disturbed_path("statvfs", AT_FDCWD, path), REAL(statvfs64)(path, to))
}
DIR *opendir(const char *path) {
    int what = disturbed_path("opendir", AT_FDCWD, path);
    if (what == ERROR || what == DONE) {
        failed();
        return NULL;
    }
    return REAL(opendir)(path);
}
int connect(int file, const struct sockaddr *to, socklen_t size) {
    char text[PATH_MAX];
    PLAIN(applies ? disturbed("connect", address(to, text)) : NOTHING, REAL(connect)(file, to, size))
}
ssize_t send(int file, const void *from, size_t size, int flags) {
    COUNTED(disturbed_file("send", file), REAL(send)(file, from, size, flags))
}
int execve(const char *path, char *const words[], char *const environment[]) {
    PLAIN(disturbed_path("exec", AT_FDCWD, path), REAL(execve)(path, words, environment))
}
int execv(const char *path, char *const words[]) {
    PLAIN(disturbed_path("exec", AT_FDCWD, path), REAL(execv)(path, words))
}
