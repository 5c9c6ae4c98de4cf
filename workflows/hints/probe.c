/* Opens files through MPI-IO without hints of its own and prints which hints are in force.
 *
 *     mpicc probe.c -o probe && mpiexec -n 4 ./probe FILE ... -- VARIABLE ...
 *
 * One line per fact on standard output of rank 0, with tabs between its words:
 *
 *     burstlens-probe  mpi       VERSION
 *     burstlens-probe  ranks     NUMBER
 *     burstlens-probe  hint      FILE      KEY    VALUE      of MPI_File_get_info
 *     burstlens-probe  variable  NAME      VALUE             of MPI_T, as Open MPI's MCA parameters
 *     burstlens-probe  refused   FILE      REASON            it cannot be opened or written
 *     burstlens-probe  end
 *
 * Each file is made, written collectively, 64 KiB per rank, and deleted. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 65536, LONGEST = 4096 };

static void say(const char *kind, const char *name, const char *key, const char *value)
{
    char line[4 * LONGEST];
    const char *words[] = { name, key, value };
    int at = snprintf(line, sizeof line, "burstlens-probe\t%s", kind);
    for (int n = 0; n < 3; n++)
        if (words[n] && at < (int)sizeof line)
            at += snprintf(line + at, sizeof line - (size_t)at, "\t%s", words[n]);
    for (char *c = line; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    puts(line);
}

static void show_hints(MPI_File file, const char *path)
{
    MPI_Info info;
    int count = 0, there = 0;
    char key[MPI_MAX_INFO_KEY + 1], value[LONGEST];

    if (MPI_File_get_info(file, &info) != MPI_SUCCESS)
        return;
    MPI_Info_get_nkeys(info, &count);
    for (int n = 0; n < count; n++) {
        MPI_Info_get_nthkey(info, n, key);
        MPI_Info_get(info, key, LONGEST - 1, value, &there);
        if (there)
            say("hint", path, key, value);
    }
    MPI_Info_free(&info);
}

static void probe(const char *path, int rank)
{
    static char piece[PIECE];
    char reason[MPI_MAX_ERROR_STRING];
    int length;
    MPI_File file;
    MPI_Status status;
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    int failed = MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file);

    if (failed == MPI_SUCCESS) {
        failed = MPI_File_write_at_all(file, (MPI_Offset)rank * PIECE, piece, PIECE, MPI_BYTE,
                                       &status);
        if (rank == 0)
            show_hints(file, path);
        MPI_File_close(&file);
    }
    if (failed != MPI_SUCCESS && rank == 0) {
        MPI_Error_string(failed, reason, &length);
        say("refused", path, reason, NULL);
    }
}

/* A number, a text or a truth value; other kinds of variables are not asked for. */
static void show_variable(const char *name)
{
    int index, count = 0, verbosity, bind, scope, length = 0;
    MPI_Datatype type;
    MPI_T_enum members;
    MPI_T_cvar_handle handle;
    char value[LONGEST] = "";
    int number = 0;
    _Bool truth = 0;

    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS)
        return;
    if (MPI_T_cvar_get_info(index, NULL, &length, &verbosity, &type, &members, NULL, NULL, &bind,
                            &scope) != MPI_SUCCESS
        || MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return;
    if (type == MPI_CHAR && count < LONGEST) {
        MPI_T_cvar_read(handle, value);
    } else if ((type == MPI_INT || type == MPI_UNSIGNED) && count == 1) {
        MPI_T_cvar_read(handle, &number);
        snprintf(value, sizeof value, "%d", number);
    } else if (type == MPI_C_BOOL && count == 1) {
        MPI_T_cvar_read(handle, &truth);
        snprintf(value, sizeof value, "%s", truth ? "true" : "false");
    }
    MPI_T_cvar_handle_free(&handle);
    say("variable", name, value, NULL);
}

int main(int argc, char **argv)
{
    int rank, ranks, provided, length, n = 1;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];

    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) {
        MPI_Get_library_version(text, &length);
        text[strcspn(text, "\n")] = 0;
        say("mpi", text, NULL, NULL);
        snprintf(text, sizeof text, "%d", ranks);
        say("ranks", text, NULL, NULL);
    }
    for (; n < argc && strcmp(argv[n], "--"); n++)
        probe(argv[n], rank);
    for (n++; n < argc && rank == 0; n++)
        show_variable(argv[n]);
    if (rank == 0)
        say("end", NULL, NULL, NULL);
    fflush(stdout);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
