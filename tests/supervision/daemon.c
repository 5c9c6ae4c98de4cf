/* A daemon that leaves its parents' session: fork, setsid, fork. It adds a byte to the file "out" for
   each round of its life. "stubborn" ignores SIGTERM; "restless" forks, makes a session of its own
   and lets its parent exit in each round, so that its process number changes all the time; "crowd"
   starts a child in a session of its own in each round. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void detach(void) {
    if (fork())
        _exit(0);
    setsid();
}

int main(int count, char **words) {
    const char *mode = count > 1 ? words[1] : "";
    int out = open("out", O_WRONLY | O_CREAT | O_APPEND, 0600), round = 0;
    if (strcmp(mode, "plain"))
        signal(SIGTERM, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    if (fork()) { /* the program itself ends when its daemon runs */
        while (lseek(out, 0, SEEK_END) == 0)
            usleep(1000);
        return 0;
    }
    setsid();
    detach();
    for (;; round++) {
        if (write(out, "x", 1) != 1)
            return 1;
        if (!strcmp(mode, "restless"))
            detach();
        else if (!strcmp(mode, "crowd") && round < 200 && !fork()) {
            setsid();
            for (;;)
                usleep(write(out, "x", 1) == 1 ? 5000 : 5000);
        }
        usleep(strcmp(mode, "restless") ? 5000 : 500);
    }
}
