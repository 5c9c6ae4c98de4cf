/* The libdatawarp C API, as the Burstlens EMULATOR of it provides it.
 *
 * These declarations were written for the emulator, from the shape that public programs use. Stages
 * are carried out by ordinary processes on ordinary directories: no DataWarp hardware is involved.
 *
 * Unless said otherwise a call returns 0 or a negative errno. docs/emulator.md of Burstlens says,
 * function by function, what DataWarp documents and what was chosen here.
 */
#ifndef DATAWARP_H
#define DATAWARP_H

/* Defined by the emulator only. */
#define DW_EMULATOR 1

#ifdef __cplusplus
extern "C" {
#endif

enum dw_stage_type {
    DW_STAGE_IMMEDIATE = 0,
    DW_STAGE_AT_JOB_END = 1,
    DW_REVOKE_STAGE_AT_JOB_END = 2, /* the PFS path is not looked at and may be NULL */
    DW_ACTIVATE_DEFERRED_STAGE = 3  /* likewise */
};

/* Start a stage. It outlives the call and the process; a file has one active stage at most. */
int dw_stage_file_in(const char *dw_file, const char *pfs_file);
int dw_stage_directory_in(const char *dw_directory, const char *pfs_directory);
int dw_stage_list_in(const char *dw_directory, const char **pfs_files);
int dw_stage_file_out(const char *dw_file, const char *pfs_file, enum dw_stage_type type);
int dw_stage_directory_out(const char *dw_directory, const char *pfs_directory,
                           enum dw_stage_type type);
int dw_stage_list_out(const char **dw_files, const char *pfs_directory, enum dw_stage_type type);

/* Count the stages of a file, of all files below a directory, or of a NULL-terminated list. */
int dw_query_file_stage(const char *dw_file, int *complete, int *pending, int *deferred,
                        int *failed);
int dw_query_directory_stage(const char *dw_directory, int *complete, int *pending, int *deferred,
                             int *failed);
int dw_query_list_stage(const char **dw_files, int *complete, int *pending, int *deferred,
                        int *failed);

/* Return when the stages are over, well or not. No signal interrupts the wait. */
int dw_wait_file_stage(const char *dw_file);
int dw_wait_directory_stage(const char *dw_directory);
int dw_wait_list_stage(const char **dw_files);

/* Give the stages up and forget them. */
int dw_terminate_file_stage(const char *dw_file);
int dw_terminate_directory_stage(const char *dw_directory);
int dw_terminate_list_stage(const char **dw_files);

/* Walk over the failed stages below a path. A read returns the path's length, 0 at the end. */
typedef struct dw_failed_stage_state dw_failed_stage_t;
int dw_open_failed_stage(const char *dw_instance_path, dw_failed_stage_t **walk);
int dw_read_failed_stage(dw_failed_stage_t *walk, char *path, int path_size, int *stage_errno);
int dw_close_failed_stage(dw_failed_stage_t *walk);

/* How many stages of an instance may copy at the same time. */
int dw_set_stage_concurrency(const char *dw_instance_path, unsigned int stages);

int dw_set_stripe_configuration(int fd, int stripe_size, int stripe_width);
int dw_get_stripe_configuration(int fd, int *stripe_size, int *stripe_width, int *starting_index);

/* Exported by the emulator only: what it is, and whether a path is in an instance of it (1 or 0),
 * which on a Cray the f_type of statfs shows. */
extern const char dw_emulator[];
int dw_emulator_owns(const char *path);

#ifdef __cplusplus
}
#endif
#endif
