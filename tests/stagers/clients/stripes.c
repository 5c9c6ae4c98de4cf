/* Stripes of a new file, of a file made in a striped folder, and of descriptors that have none. */
#include <datawarp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void show(const char *what, int fd) {
    int size = 0, width = 0, start = -1;
    int ret = dw_get_stripe_configuration(fd, &size, &width, &start);
    if (ret < 0)
        printf("%s errno %d\n", what, -ret);
    else
        printf("%s size %d width>0 %d start>=0 %d\n", what, size, width > 0, start >= 0);
}

int main(int argc, char **argv) {
    if (argc != 2 || chdir(argv[1]))
        return 100;
    int folder = open(".", O_RDONLY), file = open("new", O_RDWR | O_CREAT | O_EXCL, 0644);
    int null = open("/dev/null", O_RDWR);
    show("default", file);
    printf("set %d\n", dw_set_stripe_configuration(file, 4 << 20, 2));
    show("file", file);
    printf("odd %d\n", dw_set_stripe_configuration(file, 4095, 2) == -EINVAL);
    printf("zero %d\n", dw_set_stripe_configuration(file, 0, 2) == -EINVAL);
    printf("negative %d\n", dw_set_stripe_configuration(file, -4096, 2) == -EINVAL);
    printf("folder %d\n", dw_set_stripe_configuration(folder, 1 << 20, 1));
    int below = open("below", O_RDWR | O_CREAT | O_EXCL, 0644);
    show("below", below);
    if (write(below, "data", 4) != 4)
        return 101;
    printf("late %d\n", dw_set_stripe_configuration(below, 8 << 20, 1));
    show("below", below);
    show("elsewhere", null);
    printf("elsewhere %d\n", dw_set_stripe_configuration(null, 4096, 1) == -EINVAL);
    show("closed", 99);
    return 0;
}
