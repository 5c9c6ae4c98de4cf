/* What may be set on an instance: how many stages copy at a time, and stripes. */
#include "emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define USUAL_STAGES 16
#define MOST_STAGES 64
#define STRIPE_SIZE (8 << 20)
#define STRIPE_WIDTH 1
#define WIDEST 2

static int put(const struct place *place, const char *name, const char *text) {
    char path[PATH_MAX], next[PATH_MAX];
    int error = join(path, place->state, name);
    if (!error)
        error = join(next, place->state, "next");
    int lock = error ? error : state_lock(place);
    if (lock < 0)
        return lock;
    FILE *file = fopen(next, "we");
    if (!file || fputs(text, file) < 0)
        error = -errno;
    if (file && fclose(file) && !error)
        error = -errno;
    if (!error && rename(next, path))
        error = -errno;
    state_unlock(lock);
    return error;
}

static int get(const char *state, const char *name, int *first, int *second) {
    char path[PATH_MAX], text[64] = "";
    if (join(path, state, name))
        return 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    int found = fgets(text, sizeof text, file) ? sscanf(text, "%d %d", first, second) : 0;
    fclose(file);
    return found;
}

unsigned int limit_of(const char *state) {
    int stages = USUAL_STAGES, unused;
    get(state, "concurrency", &stages, &unused);
    return (unsigned int)stages;
}

int dw_set_stage_concurrency(const char *dw_instance_path, unsigned int stages) {
    struct place place;
    char text[16];
    int error = place_of(dw_instance_path, 0, &place);
    if (error)
        return error;
    if (stages == 0)
        return -EINVAL;
    snprintf(text, sizeof text, "%u\n", stages < MOST_STAGES ? stages : MOST_STAGES);
    return put(&place, "concurrency", text);
}

/* The instance and the key of an open file or folder. */
static int place_of_open(int fd, struct place *place, char key[KEY_SIZE]) {
    char link[40], path[PATH_MAX];
    int error = key_of(fd, "", key);
    if (error)
        return error;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0)
        return -errno;
    path[size] = '\0';
    return path[0] == '/' ? place_of(path, 1, place) : -EINVAL;
}

int dw_set_stripe_configuration(int fd, int stripe_size, int stripe_width) {
    struct place place;
    struct stat found;
    char key[KEY_SIZE], name[KEY_SIZE + 8], text[32];
    int error = place_of_open(fd, &place, key);
    if (error)
        return error;
    if (stripe_size <= 0 || stripe_size % 4096 || stripe_width <= 0)
        return -EINVAL;
    if (fstat(fd, &found))
        return -errno;
    if (S_ISREG(found.st_mode) && found.st_size > 0)
        return 0; /* undefined: here the file keeps its stripes, and there is no error */
    snprintf(name, sizeof name, "stripe.%s", key);
    snprintf(text, sizeof text, "%d %d\n", stripe_size,
             stripe_width < WIDEST ? stripe_width : WIDEST);
    return put(&place, name, text);
}

int dw_get_stripe_configuration(int fd, int *stripe_size, int *stripe_width, int *starting_index) {
    struct place place;
    struct stat found;
    char key[KEY_SIZE], name[KEY_SIZE + 8];
    int error = place_of_open(fd, &place, key);
    if (error == -EINVAL)
        return -ENODATA;
    if (error)
        return error;
    if (!stripe_size || !stripe_width || !starting_index)
        return -EINVAL;
    struct fault fault = fault_of(place.state, place.path, 1);
    if (fault.error)
        return -fault.error;
    *stripe_size = STRIPE_SIZE;
    *stripe_width = STRIPE_WIDTH;
    *starting_index = 0;
    snprintf(name, sizeof name, "stripe.%s", key);
    if (get(place.state, name, stripe_size, stripe_width) == 2)
        return 0;
    /* A file takes after its folder; a folder does not. */
    char *slash = strrchr(place.path, '/');
    if (fstat(fd, &found) || S_ISDIR(found.st_mode) || !slash)
        return 0;
    *slash = '\0';
    if (key_of(AT_FDCWD, place.path, key))
        return 0;
    snprintf(name, sizeof name, "stripe.%s", key);
    get(place.state, name, stripe_size, stripe_width);
    return 0;
}
