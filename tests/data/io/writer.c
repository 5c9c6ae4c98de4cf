/* Ranks write one shared file collectively, one each with stdio, and rank 0 a serial one whose name
 * is not UTF-8. "kill" ends a rank with SIGKILL before that; "many" opens more files than Darshan
 * has records for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
#include <signal.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, n = 65536; MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *dir = argv[1]; char name[4096]; char *data = calloc(1, n);
  MPI_File f; snprintf(name, sizeof name, "%s/shared_0001.dat", dir);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
  for (int i = 0; i < 20; i++) MPI_File_write_at_all(f, ((MPI_Offset)i * size + rank) * n, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
  for (int i = 0; i < 5; i++) MPI_File_read_at(f, (MPI_Offset)rank * n, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
  if (argc > 2 && !strcmp(argv[2], "kill")) raise(SIGKILL);
  MPI_File_close(&f);
  for (int i = 0; argc > 2 && !strcmp(argv[2], "many") && i < 1500; i++) {
    snprintf(name, sizeof name, "%s/many.%04d.%04d", dir, rank, i);
    int d = open(name, O_CREAT | O_WRONLY, 0644); if (write(d, data, 100) != 100) return 1; close(d); unlink(name);
  }
  snprintf(name, sizeof name, "%s/own.%04d.txt", dir, rank);
  FILE *o = fopen(name, "w"); for (int i = 0; i < 500; i++) fprintf(o, "%d %d line of text\n", rank, i); fclose(o);
  if (!rank) { snprintf(name, sizeof name, "%s/caf\xe9_serial.bin", dir); FILE *s = fopen(name, "w"); fwrite(data, 1, n, s); fclose(s); printf("done\n"); }
  MPI_Finalize(); return 0; }
