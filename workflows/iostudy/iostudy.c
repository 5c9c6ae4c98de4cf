// Writes and reads files by MPI-IO in the pattern of a real code, and times each frame.
//
// usage: iostudy [study.txt]
//
// study.txt (one "key values" per line) and study.head (the netCDF header of each file) are made by
// `python -m burstlens.workflows.iostudy` from a profile, which explains the keys. Data are 4-byte
// words whose value follows from file, frame and offset, so that any rank can check any part.
// A rank's part of a variable is a list of runs (offset, length): a call writes one run, or all of
// them through a file view. Seconds are those of the slowest rank in open, write, sync and close.
#include "study.h"

#include <stdint.h>
#include <time.h>

// Runs a statement and adds its time to `seconds`.
#define TIMED(statement) \
  do { double began = MPI_Wtime(); statement; seconds += MPI_Wtime() - began; } while (0)

typedef struct { MPI_Offset offset; int words; } Run; // in words from the variable's first one
static Run *runs;
static long count, room;

static void add_run(MPI_Offset offset, long long words) {
  if (count == room) runs = realloc(runs, (room = 2 * room + 1024) * sizeof *runs);
  if (!runs) {
    fprintf(stderr, "iostudy: error: rank %d has no memory for %ld runs\n", rank, room);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  runs[count++] = (Run){offset, (int)words};
}

// The rows of a box of the array, whose last dimension is contiguous; adjacent rows are one run.
static void add_row(MPI_Offset offset, long long words) {
  Run *last = count ? &runs[count - 1] : NULL;
  if (last && last->offset + last->words == offset && last->words + words < 1 << 28)
    last->words += words;
  else add_run(offset, words);
}

static void add_box(int dimension, MPI_Offset offset, const long long *start,
                    const long long *size) {
  long long pitch = study.words;
  for (int d = dimension + 1; d < study.dimensions; d++) pitch *= study.shape[d];
  offset += start[dimension] * pitch;
  if (dimension == study.dimensions - 1) add_row(offset, size[dimension] * pitch);
  else
    for (long long i = 0; i < size[dimension]; i++)
      add_box(dimension + 1, offset + i * pitch, start, size);
}

static void part(long long total, int parts, int index, long long *start, long long *size) {
  *start = total / parts * index + (index < total % parts ? index : total % parts);
  *size = total / parts + (index < total % parts);
}

// The part of a rank in one variable. In a file of its own a rank's blocks follow each other.
static void find_runs(int of) {
  long long start[DIMENSIONS], size[DIMENSIONS];
  count = 0;
  if (!strcmp(study.pattern, "blocks")) {
    int sides[DIMENSIONS], left = of;
    for (int d = 0; d < study.dimensions; d++) sides[d] = (int)study.split[d];
    MPI_Dims_create(ranks, study.dimensions, sides);
    for (int d = study.dimensions - 1; d >= 0; left /= sides[d--])
      part(study.shape[d], sides[d], left % sides[d], &start[d], &size[d]);
    add_box(0, 0, start, size);
  } else if (!strcmp(study.pattern, "cells")) {
    int side = 1;
    while (side * side < ranks) side++;
    for (int cell = 0; cell < side; cell++) { // BT's multipartition: a cell of each slab of z
      part(study.shape[0], side, cell, &start[0], &size[0]);
      part(study.shape[1], side, (of / side - cell + side) % side, &start[1], &size[1]);
      part(study.shape[2], side, (of % side + cell) % side, &start[2], &size[2]);
      add_box(0, 0, start, size);
    }
  } else {
    for (long long segment = 0; segment < study.segments; segment++) {
      long long first = own ? segment : segment * ranks + of;
      for (long long at = 0; at < study.block; at += study.transfer) {
        long long bytes = study.block - at < study.transfer ? study.block - at : study.transfer;
        add_run((first * study.block + at) / 4, bytes / 4);
      }
    }
  }
}

// The word at an offset of a frame's file; other files, frames and offsets have others.
static uint32_t word(MPI_Offset offset, int frame, int owner) {
  uint64_t mixed = (uint64_t)offset * UINT64_C(0x9E3779B97F4A7C15) +
                   (uint64_t)frame * UINT64_C(0xC2B2AE3D27D4EB4F) +
                   (uint64_t)owner * UINT64_C(0x165667B19E3779F9);
  return (uint32_t)(mixed >> 29);
}

static void fill(uint32_t *data, MPI_Offset offset, long words, int frame, int owner) {
  for (long i = 0; i < words; i++) data[i] = word(offset + i, frame, owner);
}

// The offset in bytes, in the data, of the first wrong word; -1 if there is none.
static MPI_Offset wrong(const uint32_t *data, MPI_Offset offset, long words, int frame, int owner) {
  for (long i = 0; i < words; i++)
    if (data[i] != word(offset + i, frame, owner)) return 4 * (offset + i);
  return -1;
}

static MPI_Info hints(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  for (int i = 0; i < study.hints; i++) MPI_Info_set(info, study.hint[i].key, study.hint[i].value);
  return info;
}

// Rank 0 prints which hints are in force, and those asked for that are not.
static void show_hints(MPI_File file) {
  static const char *shown[] = {"romio_cb_write", "romio_cb_read", "romio_ds_write", "cb_nodes",
                                "cb_buffer_size", "striping_factor", "striping_unit"};
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL + 1];
  int there;
  MPI_File_get_info(file, &info);
  if (!rank) {
    printf("iostudy: hints in force:");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
      MPI_Info_get(info, shown[i], MPI_MAX_INFO_VAL, value, &there);
      if (there) printf(" %s=%s", shown[i], value);
    }
    printf("\n");
    for (int i = 0; i < study.hints; i++) {
      MPI_Info_get(info, study.hint[i].key, MPI_MAX_INFO_VAL, value, &there);
      if (!there || strcmp(value, study.hint[i].value))
        printf("iostudy: the hint %s=%s has no effect, in force: %s\n", study.hint[i].key,
               study.hint[i].value, there ? value : "nothing");
    }
    fflush(stdout);
  }
  MPI_Info_free(&info);
}

static void name_file(char *name, int frame, int owner) {
  if (own) snprintf(name, TEXT, "frame_%04d_%05d.nc", frame, owner);
  else snprintf(name, TEXT, "frame_%04d.nc", frame);
}

static long long variable_bytes(void) {
  if (!strcmp(study.pattern, "segments"))
    return study.block * study.segments * (own ? 1 : ranks);
  long long bytes = 4 * study.words;
  for (int d = 0; d < study.dimensions; d++) bytes *= study.shape[d];
  return bytes;
}

// All runs of a variable as the view of a file.
static void set_view(MPI_File file, MPI_Offset begin, MPI_Info info, int *code) {
  int *lengths = malloc(count * sizeof *lengths);
  MPI_Aint *places = malloc(count * sizeof *places);
  MPI_Datatype type;
  for (long i = 0; i < count; i++) {
    lengths[i] = runs[i].words;
    places[i] = 4 * runs[i].offset;
  }
  // A rank without a run has some view all the same: one of no bytes is no file type.
  if (count) MPI_Type_create_hindexed((int)count, lengths, places, MPI_INT32_T, &type);
  else MPI_Type_contiguous(1, MPI_INT32_T, &type);
  MPI_Type_commit(&type);
  int found = MPI_File_set_view(file, begin, MPI_INT32_T, type, "native", info);
  if (*code == MPI_SUCCESS) *code = found;
  MPI_Type_free(&type);
  free(lengths);
  free(places);
}

// The calls of one variable, reads or writes; their seconds. After an error the calls go on, since
// others wait in collective ones; `code` keeps the first error.
static double transfer(MPI_File file, int variable, int frame, int owner, int reads,
                       uint32_t *data, MPI_Info info, int *code, MPI_Offset *bad) {
  MPI_Offset first = variable * (variable_bytes() / 4);
  double seconds = 0;
  if (view) TIMED(set_view(file, study.begin + 4 * first, info, code));
  // A rank without a run takes part in collective calls all the same.
  for (long i = 0; view ? i == 0 : i < count; i++) {
    long words = 0, last = view ? count : i + 1;
    for (long j = i; j < last; words += runs[j++].words)
      if (!reads && study.check)
        fill(data + words, first + runs[j].offset, runs[j].words, frame, owner);
    MPI_Offset at = view ? 0 : study.begin + 4 * (first + runs[i].offset);
    int number = (int)(view ? words : 4 * words), got = 0, found;
    MPI_Datatype type = view ? MPI_INT32_T : MPI_BYTE;
    MPI_Status status;
    if (reads && study.collective)
      TIMED(found = MPI_File_read_at_all(file, at, data, number, type, &status));
    else if (reads) TIMED(found = MPI_File_read_at(file, at, data, number, type, &status));
    else if (study.collective)
      TIMED(found = MPI_File_write_at_all(file, at, data, number, type, &status));
    else TIMED(found = MPI_File_write_at(file, at, data, number, type, &status));
    if (found == MPI_SUCCESS) MPI_Get_count(&status, type, &got);
    if (found == MPI_SUCCESS && got != number) found = MPI_ERR_TRUNCATE;
    if (*code == MPI_SUCCESS) *code = found;
    if (!reads || !study.check || found != MPI_SUCCESS) continue;
    for (long j = i, k = 0; j < last && *bad < 0; k += runs[j++].words)
      *bad = wrong(data + k, first + runs[j].offset, runs[j].words, frame, owner);
  }
  return seconds;
}

// Writes or reads the files of one frame; the seconds of the slowest rank.
static double go(int frame, int owner, int reads, const char *head, uint32_t *data) {
  char name[TEXT];
  int code, mode = reads ? MPI_MODE_RDONLY : MPI_MODE_CREATE | MPI_MODE_RDWR;
  double seconds = 0, worst;
  MPI_Offset bad = -1;
  MPI_File file;
  MPI_Info info = hints();
  name_file(name, frame, owner);
  MPI_Barrier(MPI_COMM_WORLD);
  TIMED(code = MPI_File_open(own ? MPI_COMM_SELF : MPI_COMM_WORLD, name, mode, info, &file));
  require_io(code, reads ? "read" : "write", name);
  if (frame == 1 && !reads) show_hints(file);
  if (!reads && (own || !rank))
    TIMED(code = MPI_File_write_at(file, 0, head, (int)study.begin, MPI_BYTE, MPI_STATUS_IGNORE));
  for (int variable = 0; variable < study.variables; variable++)
    seconds += transfer(file, variable, frame, own ? owner : 0, reads, data, info, &code, &bad);
  int synced = MPI_SUCCESS, closed;
  if (!reads && study.sync) TIMED(synced = MPI_File_sync(file)); // collective, after errors too
  TIMED(closed = MPI_File_close(&file));
  MPI_Info_free(&info);
  if (code == MPI_SUCCESS) code = synced == MPI_SUCCESS ? closed : synced;
  require_io(code, reads ? "read" : "write", name);
  require_right(bad, name);
  MPI_Allreduce(&seconds, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

// Reads the data of a file once, by all ranks together (`whole`: each all of it), in contiguous
// pieces, not those that were written; the seconds of the slowest rank.
static double go_through(int frame, int whole, long long piece, uint32_t *data) {
  char name[TEXT];
  int owner = own ? (rank + 1) % ranks : 0, code;
  long long all = study.variables * variable_bytes() / 4, start = 0, size = all;
  MPI_Offset bad = -1;
  MPI_File file;
  double seconds = 0, worst;
  MPI_Info info = hints();
  if (!own && !whole) part(all, ranks, (rank + 1) % ranks, &start, &size);
  name_file(name, frame, owner);
  TIMED(code = MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, info, &file));
  MPI_Info_free(&info);
  require_io(code, "read", name);
  for (long long at = start; at < start + size && bad < 0 && code == MPI_SUCCESS; at += piece / 4) {
    int words = (int)(start + size - at < piece / 4 ? start + size - at : piece / 4), got = 0;
    MPI_Offset place = study.begin + 4 * at;
    MPI_Status status;
    TIMED(code = MPI_File_read_at(file, place, data, 4 * words, MPI_BYTE, &status));
    if (code == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &got);
    if (code == MPI_SUCCESS && got != 4 * words) code = MPI_ERR_TRUNCATE;
    if (code == MPI_SUCCESS && study.check) bad = wrong(data, at, words, frame, owner);
  }
  MPI_File_close(&file);
  require_io(code, "read", name);
  require_right(bad, name);
  MPI_Allreduce(&seconds, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

static void show(int frame, const char *what, int of, long long bytes, double seconds) {
  char name[TEXT];
  name_file(name, of, 0);
  if (rank) return;
  printf("frame %d of %lld: %s %s, %lld bytes in %.6f s, %.1f MB/s\n", frame, study.frames, what,
         name, bytes, seconds, seconds > 0 ? bytes / seconds / 1e6 : 0);
  fflush(stdout);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  read_study(argc > 1 ? argv[1] : "study.txt");
  char *head = read_head("study.head");
  long long piece = study.transfer ? study.transfer : 4 << 20, most = piece / 4, words = 0;
  find_runs(rank);
  for (long i = 0; i < count; i++) words += runs[i].words;
  if (!view) {
    for (long i = 0; i < count; i++) most = runs[i].words > most ? runs[i].words : most;
  } else most = words > most ? words : most;
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
  uint32_t *data = malloc(4 * (most + 1));
  require(data ? NULL : "rank %d has no memory for %lld bytes", rank, 4 * most);
  if (data) fill(data, 0, most, 0, 0);
  int whole = !strcmp(study.read, "whole"), again = !strcmp(study.read, "own");
  long long bytes = study.variables * variable_bytes() * (own ? ranks : 1);
  double written = 0, longest = 0;
  for (int frame = 1; frame <= study.frames; frame++) {
    if (!whole || frame == 1) {
      find_runs(rank);
      double seconds = go(frame, rank, 0, head, data);
      written += seconds;
      longest = seconds > longest ? seconds : longest;
      if (study.check) go_through(frame, 0, piece, data);
      show(frame, "wrote", frame, bytes, seconds);
    }
    if (again) { // what another rank has written, which its own memory does not hold
      find_runs((rank + 1) % ranks);
      show(frame, "read", frame, bytes, go(frame, (rank + 1) % ranks, 1, head, data));
    } else if (whole) show(frame, "read", 1, bytes * ranks, go_through(1, 1, piece, data));
    if (study.pause_ms && frame < study.frames) {
      struct timespec pause = {study.pause_ms / 1000, study.pause_ms % 1000 * 1000000};
      nanosleep(&pause, NULL);
    }
  }
  long long frames = whole ? 1 : study.frames;
  if (!rank)
    printf("iostudy: done: %lld bytes written in %.6f s, %.1f MB/s, the slowest frame %.6f s%s\n",
           frames * bytes, written, written > 0 ? frames * bytes / written / 1e6 : 0, longest,
           study.check ? ", all as written" : "");
  free(data);
  free(head);
  free(runs);
  MPI_Finalize();
  return 0;
}
