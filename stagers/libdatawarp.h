/* What burstlens.stagers.libdatawarp calls, declared for cffi.
 *
 * Written from what public clients of the library call (AXL, libhio, Ioss, NERSC's and KAUST's
 * examples), not from the vendor's header. Each call returns 0 or a negative errno.
 */

enum dw_stage_type {
    DW_STAGE_IMMEDIATE = 0,
    DW_STAGE_AT_JOB_END = 1,
    DW_REVOKE_STAGE_AT_JOB_END = 2,
    DW_ACTIVATE_DEFERRED_STAGE = 3
};

typedef struct dw_failed_stage_state dw_failed_stage_t;

int dw_stage_file_in(const char *dw_file, const char *pfs_file);
int dw_stage_file_out(const char *dw_file, const char *pfs_file, enum dw_stage_type type);
int dw_query_file_stage(const char *dw_file, int *complete, int *pending, int *deferred, int *failed);
int dw_wait_file_stage(const char *dw_file);
int dw_terminate_file_stage(const char *dw_file);

int dw_stage_directory_in(const char *dw_dir, const char *pfs_dir);
int dw_stage_directory_out(const char *dw_dir, const char *pfs_dir, enum dw_stage_type type);
int dw_query_directory_stage(const char *dw_dir, int *complete, int *pending, int *deferred, int *failed);
int dw_wait_directory_stage(const char *dw_dir);
int dw_terminate_directory_stage(const char *dw_dir);

/* Lists end with NULL and hold files only. */
int dw_stage_list_in(const char *dw_dir, const char **pfs_list);
int dw_stage_list_out(const char **dw_list, const char *pfs_dir, enum dw_stage_type type);
int dw_query_list_stage(const char **dw_list, int *complete, int *pending, int *deferred, int *failed);
int dw_wait_list_stage(const char **dw_list);
int dw_terminate_list_stage(const char **dw_list);

/* A read returns the length of the path, 0 at the end. */
int dw_open_failed_stage(const char *dw_instance, dw_failed_stage_t **state);
int dw_read_failed_stage(dw_failed_stage_t *state, char *path, int path_size, int *stage_errno);
int dw_close_failed_stage(dw_failed_stage_t *state);

int dw_set_stage_concurrency(const char *dw_instance, unsigned int stages);
int dw_set_stripe_configuration(int fd, int stripe_size, int stripe_width);
int dw_get_stripe_configuration(int fd, int *stripe_size, int *stripe_width, int *starting_index);

/* The emulator alone has this one: whether a path lies in an instance that it plays. */
int dw_emulator_owns(const char *path);

/* statfs(2) of a 64-bit Linux: the type comes first, the rest is of no interest here. */
struct burstlens_statfs { long f_type; char rest[248]; };
int statfs(const char *path, struct burstlens_statfs *status);
