// Records each MPI_File_write_at as "rank offset bytes" in writes.<rank>, and injects faults: FAULT is
// "byte" (one byte is written wrong), "space" (writes fail), "short" (half is written) or "".
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is(const char *fault) {
  const char *set = getenv("FAULT");
  return set && !strcmp(set, fault);
}

int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void *data, int count,
                      MPI_Datatype type, MPI_Status *status) {
  int rank, size;
  char name[64];
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Type_size(type, &size);
  snprintf(name, sizeof name, "writes.%d", rank);
  FILE *log = fopen(name, "a");
  fprintf(log, "%d %lld %lld\n", rank, (long long)offset, (long long)size * count);
  fclose(log);
  if (is("space") && rank == 1) return MPI_ERR_NO_SPACE;
  int wanted = is("short") && rank == 1 ? count / 2 : count;
  int code = PMPI_File_write_at(file, offset, data, wanted, type, status);
  if (is("byte") && rank == 1) {
    char wrong = ~((const char *)data)[17];
    PMPI_File_write_at(file, offset + 17, &wrong, 1, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  return code;
}
