/* Writes frames of interleaved rows to one file per frame through MPI-IO, and prints the seconds
   that each took: the slowest rank's, from open to close.

   writer FRAMES ROWS BYTES FOLDER: hints come from ROMIO_HINTS. FAULT=crash|hang|quiet|short in
   the environment makes the run fail in that way; PAUSE_MS is slept before each frame, as a model
   computes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5) {
        if (rank == 0) fprintf(stderr, "writer FRAMES ROWS BYTES FOLDER\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int frames = atoi(argv[1]), rows = atoi(argv[2]), bytes = atoi(argv[3]);
    const char *fault = getenv("FAULT") ? getenv("FAULT") : "";
    int pause_ms = getenv("PAUSE_MS") ? atoi(getenv("PAUSE_MS")) : 0;
    if (!strcmp(fault, "crash")) MPI_Abort(MPI_COMM_WORLD, 3);
    if (!strcmp(fault, "short")) frames = 2;
    char *row = malloc((size_t)rows * bytes);
    memset(row, 'a' + rank, (size_t)rows * bytes);
    MPI_Datatype view;
    MPI_Type_vector(rows, bytes, ranks * bytes, MPI_BYTE, &view);
    MPI_Type_commit(&view);
    for (int frame = 1; frame <= frames; frame++) {
        char path[4096];
        if (!strcmp(fault, "hang") && frame == 2) pause();
        if (pause_ms) usleep(1000 * pause_ms);
        snprintf(path, sizeof path, "%s/out_%04d.dat", argv[4], frame);
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime(), mine, slowest;
        MPI_File file;
        if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                          &file) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 4);
        MPI_File_set_view(file, (MPI_Offset)rank * bytes, MPI_BYTE, view, "native", MPI_INFO_NULL);
        MPI_File_write_all(file, row, rows * bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
        mine = MPI_Wtime() - begin;
        MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0 && strcmp(fault, "quiet"))
            printf("written out_%04d.dat %.6f s\n", frame, slowest);
        fflush(stdout);
    }
    if (rank == 0) printf("done\n");
    MPI_Finalize();
    return 0;
}
