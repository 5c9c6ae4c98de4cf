/* What the modules of the emulator share. A call returns 0 or a negative errno. */
#ifndef EMULATOR_H
#define EMULATOR_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <stddef.h>

#pragma GCC visibility push(default)
#include "datawarp.h"
#pragma GCC visibility pop

/* ---- instance.c: where a path lies */

struct place {
    char path[PATH_MAX];     /* the file or folder itself, without links */
    char root[PATH_MAX];     /* the instance that holds it */
    char state[PATH_MAX];    /* the folder of its records; it may not be there yet */
    char deferred[PATH_MAX]; /* where a workload manager looks for deferred stages, or "" */
};

#define KEY_SIZE 48 /* names one file for life: inode number and time of birth */

int place_of(const char *path, int may_be_absent, struct place *place);
int key_of(int folder, const char *path, char key[KEY_SIZE]);
int join(char *into, const char *folder, const char *name);

/* ---- check.c: the paths of a stage */

int absolute(const char *path, char *full);
int check_pfs(const char *path);
int check_folder(const char *path);
int check_target(const char *path);
int check_source(const char *path);

/* ---- record.c: the states of stages, on disk */

#define PENDING 'P'
#define DEFERRED 'D'
#define COMPLETE 'C'
#define FAILED 'F'

struct record {
    char state;
    int error;              /* positive, of a failed stage */
    char direction;         /* 'i' or 'o' */
    unsigned long long job; /* the call that started it */
    char dw[PATH_MAX];
    char pfs[PATH_MAX];
};

int state_lock(const struct place *place);
void state_unlock(int lock);
unsigned long long state_count(int lock);
int record_parse(int fd, struct record *record);
int record_read(const struct place *place, const char *key, struct record *record);
int record_write(const struct place *place, const char *key, const struct record *record);
int record_drop(const struct place *place, const char *key);
void record_close(int fd, char state, int error);
void record_sweep(const struct place *place);
int stage_of(const char *path, struct place *place, char key[KEY_SIZE], struct record *record);

/* ---- job.c: the files of one call, and the process that copies them */

struct job {
    char direction;
    char *text; /* for each file: key, DW path, PFS path, each ended by a NUL */
    size_t size, room;
};

int job_next(const struct job *job, size_t *at, const char **key, const char **dw,
             const char **pfs);
int job_add(struct job *job, const char *key, const char *dw, const char *pfs);
int job_open(const struct place *place, unsigned long long number);
int job_save(int fd, const struct job *job);
int job_adopt(const char *state, unsigned long long number, int handed);
int job_alive(const char *state, unsigned long long number);
void job_remove(const char *state, unsigned long long number);

/* ---- launch.c */
int launch_copier(const char *state, unsigned long long number, int job);

/* ---- copier.c */
int copier_run(const char *state, unsigned long long number, int handed);

/* ---- deferred.c: what the workload manager carries out at the end of a job */
int deferred_write(const struct place *place, const char *key, const char *dw, const char *pfs);
int deferred_waits(const struct place *place, const char *key);
void deferred_drop(const struct place *place, const char *key);

/* ---- faults.c: trouble made on purpose */

enum trouble { NONE, FAIL, HANG, KILL, SHORT };

struct fault {
    enum trouble trouble;
    int error;
};

struct fault fault_of(const char *state, const char *path, int at_call);
double setting_of(const char *state, const char *name, const char *variable);
int faults_write(const char *state, char **words);

/* ---- limit.c */
unsigned int limit_of(const char *state);

/* ---- walk.c: each regular file below a folder; links are passed over */
typedef int visitor(void *context, const char *path, const char *below);
int walk(const char *folder, const char *copy, visitor *visit, void *context);

#endif
