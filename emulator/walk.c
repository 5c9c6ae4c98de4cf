/* Goes over the regular files below a folder, in the order of their names. */
#include "emulator.h"

#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

static int by_name(const FTSENT **one, const FTSENT **other) {
    return strcmp((*one)->fts_name, (*other)->fts_name);
}

/* Call `visit` with each file and its path below the folder; with `copy`, the folders are made
 * there too. A file that goes meanwhile is passed over. */
int walk(const char *folder, const char *copy, visitor *visit, void *context) {
    char target[PATH_MAX];
    char *const roots[] = {(char *)folder, NULL};
    size_t length = strlen(folder);
    int error = 0;
    if (length == 0)
        return -ENOENT;
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    if (!tree)
        return -errno;
    errno = 0;
    for (FTSENT *entry; !error && (entry = fts_read(tree)); errno = 0) {
        const char *below = entry->fts_path + length;
        below += *below == '/';
        if (entry->fts_level == 0 && entry->fts_info == FTS_F)
            error = -ENOTDIR;
        else if (entry->fts_info == FTS_F)
            error = visit(context, entry->fts_path, below);
        else if (entry->fts_info == FTS_DNR)
            error = -entry->fts_errno;
        else if (entry->fts_info == FTS_D && entry->fts_level > 0 && copy) {
            error = join(target, copy, below);
            if (!error && mkdir(target, 0777) && errno != EEXIST)
                error = -errno;
        }
    }
    if (!error && errno)
        error = -errno;
    fts_close(tree);
    return error;
}
