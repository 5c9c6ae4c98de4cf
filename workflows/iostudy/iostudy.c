// Writes and reads files by MPI-IO in the pattern of a real code, and times each frame.
//
// usage: iostudy [study.txt]
//
// study.txt (one "key values" per line) and study.head (the netCDF header of each file) are made by
// `python -m burstlens.workflows.iostudy` from a profile, which explains the keys. Data are 4-byte
// words whose value follows from file, frame and offset, so that any rank can check any part.
// A rank's part of a variable is a list of runs (offset, length): a call writes one run, or all of
// them through a file view. Seconds are those of the slowest rank in open, write, sync and close.
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DIMENSIONS = 4, HINTS = 32, TEXT = 256 };
typedef struct { MPI_Offset offset; int words; } Run; // in words from the variable's first one
typedef struct { char key[TEXT], value[TEXT]; } Hint;

static struct {
  char pattern[TEXT], files[TEXT], calls[TEXT], read[TEXT];
  long long shape[DIMENSIONS], split[DIMENSIONS], words, variables, transfer, block, segments;
  long long frames, begin, collective, sync, check, ranks, pause_ms;
  int dimensions, hints;
  Hint hint[HINTS];
} study;
static int rank, ranks;
static Run *runs;
static long count, room;

// Ends all ranks with one message, that of the lowest rank with a text.
static void require(const char *format, ...) {
  struct { int good, rank; } mine = {format == NULL, rank}, first;
  MPI_Allreduce(&mine, &first, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
  if (first.good) return;
  if (rank == first.rank) {
    char text[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fprintf(stderr, "iostudy: error: %s\n", text);
    fflush(stderr);
  }
  MPI_Finalize();
  exit(1);
}

static void require_io(int code, const char *what, const char *file) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  require(code == MPI_SUCCESS ? NULL : "cannot %s %s: %s", what, file, text);
}

static void read_numbers(char *text, long long *into, int *found) {
  for (char *word = strtok(text, " "); word && *found < DIMENSIONS; word = strtok(NULL, " "))
    into[(*found)++] = atoll(word);
}

static void read_study(const char *path) {
  struct { const char *key; long long *value; } numbers[] = {
      {"words", &study.words}, {"variables", &study.variables}, {"transfer", &study.transfer},
      {"block", &study.block}, {"segments", &study.segments}, {"frames", &study.frames},
      {"begin", &study.begin}, {"collective", &study.collective}, {"sync", &study.sync},
      {"check", &study.check}, {"ranks", &study.ranks}, {"pause_ms", &study.pause_ms}};
  struct { const char *key; char *value; } texts[] = {
      {"pattern", study.pattern}, {"files", study.files}, {"calls", study.calls},
      {"read", study.read}};
  FILE *file = fopen(path, "r");
  require(file ? NULL : "cannot open %s", path);
  char line[3 * TEXT], key[TEXT], rest[TEXT];
  int ignored = 0, complete = 0;
  while (fgets(line, sizeof line, file)) {
    rest[0] = 0;
    if (sscanf(line, "%255s %255[^\n]", key, rest) < 1) continue;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
      if (!strcmp(key, numbers[i].key)) *numbers[i].value = atoll(rest);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
      if (!strcmp(key, texts[i].key)) strcpy(texts[i].value, rest);
    if (!strcmp(key, "shape")) read_numbers(rest, study.shape, &study.dimensions);
    if (!strcmp(key, "split")) read_numbers(rest, study.split, &ignored);
    if (!strcmp(key, "end")) complete = 1;
    if (!strcmp(key, "hint") && study.hints < HINTS) {
      Hint *hint = &study.hint[study.hints];
      if (sscanf(rest, "%255s %255[^\n]", hint->key, hint->value) == 2) study.hints++;
    }
  }
  fclose(file);
  require(complete ? NULL : "%s is not complete", path);
  require(study.ranks == ranks ? NULL : "%s is for %lld ranks, and MPI started %d (is the launcher "
          "of the same MPI as the compiler?)", path, study.ranks, ranks);
}

static char *read_head(const char *path) {
  char *head = calloc(1, study.begin);
  FILE *file = fopen(path, "rb");
  size_t size = file && head ? fread(head, 1, study.begin, file) : 0;
  if (file) fclose(file);
  require(size == (size_t)study.begin ? NULL : "cannot read %s: %zu bytes of %lld", path, size,
          study.begin);
  return head;
}

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

static void add_box(int dimension, MPI_Offset offset, const long long *start, const long long *size) {
  int last = dimension == study.dimensions - 1;
  long long pitch = study.words;
  for (int d = dimension + 1; d < study.dimensions; d++) pitch *= study.shape[d];
  offset += start[dimension] * pitch;
  if (last) add_row(offset, size[dimension] * pitch);
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
    int own = !strcmp(study.files, "rank");
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
  if (!strcmp(study.files, "rank")) snprintf(name, TEXT, "frame_%04d_%05d.nc", frame, owner);
  else snprintf(name, TEXT, "frame_%04d.nc", frame);
}

static long long variable_bytes(void) {
  if (!strcmp(study.pattern, "segments"))
    return study.block * study.segments * (strcmp(study.files, "rank") ? ranks : 1);
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
  MPI_Type_create_hindexed((int)count, lengths, places, MPI_INT32_T, &type);
  MPI_Type_commit(&type);
  int found = MPI_File_set_view(file, begin, MPI_INT32_T, type, "native", info);
  if (*code == MPI_SUCCESS) *code = found;
  MPI_Type_free(&type);
  free(lengths);
  free(places);
}

// The calls of one variable, reads or writes; adds their seconds. After an error the calls go on,
// since others wait in collective ones; `code` keeps the first error.
static void transfer(MPI_File file, int variable, int frame, int owner, int reads, uint32_t *data,
                     MPI_Info info, double *seconds, int *code, MPI_Offset *bad) {
  int view = !strcmp(study.calls, "view");
  MPI_Offset first = variable * (variable_bytes() / 4);
  if (view) {
    double began = MPI_Wtime();
    set_view(file, study.begin + 4 * first, info, code);
    *seconds += MPI_Wtime() - began;
  }
  for (long i = 0; i < count; i = view ? count : i + 1) {
    long words = 0, last = view ? count : i + 1;
    for (long j = i; j < last; words += runs[j++].words)
      if (!reads && study.check)
        fill(data + words, first + runs[j].offset, runs[j].words, frame, owner);
    MPI_Offset at = view ? 0 : study.begin + 4 * (first + runs[i].offset);
    int number = (int)(view ? words : 4 * words), got = 0, found;
    MPI_Datatype type = view ? MPI_INT32_T : MPI_BYTE;
    MPI_Status status;
    double began = MPI_Wtime();
    if (reads && study.collective) found = MPI_File_read_at_all(file, at, data, number, type, &status);
    else if (reads) found = MPI_File_read_at(file, at, data, number, type, &status);
    else if (study.collective) found = MPI_File_write_at_all(file, at, data, number, type, &status);
    else found = MPI_File_write_at(file, at, data, number, type, &status);
    *seconds += MPI_Wtime() - began;
    if (found == MPI_SUCCESS) MPI_Get_count(&status, type, &got);
    if (found == MPI_SUCCESS && got != number) found = MPI_ERR_TRUNCATE;
    if (*code == MPI_SUCCESS) *code = found;
    if (!reads || !study.check || found != MPI_SUCCESS) continue;
    for (long j = i, k = 0; j < last && *bad < 0; k += runs[j++].words)
      *bad = wrong(data + k, first + runs[j].offset, runs[j].words, frame, owner);
  }
}

// Writes or reads the files of one frame; the seconds of the slowest rank.
static double go(int frame, int owner, int reads, const char *head, uint32_t *data) {
  char name[TEXT];
  int own = !strcmp(study.files, "rank"), mode = reads ? MPI_MODE_RDONLY : MPI_MODE_CREATE | MPI_MODE_RDWR;
  double seconds = 0, worst;
  MPI_Offset bad = -1;
  MPI_File file;
  MPI_Info info = hints();
  name_file(name, frame, owner);
  MPI_Barrier(MPI_COMM_WORLD);
  double began = MPI_Wtime();
  int code = MPI_File_open(own ? MPI_COMM_SELF : MPI_COMM_WORLD, name, mode, info, &file);
  seconds += MPI_Wtime() - began;
  require_io(code, reads ? "read" : "write", name);
  if (frame == 1 && !reads) show_hints(file);
  if (!reads && (own || !rank)) {
    began = MPI_Wtime();
    code = MPI_File_write_at(file, 0, head, (int)study.begin, MPI_BYTE, MPI_STATUS_IGNORE);
    seconds += MPI_Wtime() - began;
  }
  for (int variable = 0; variable < study.variables; variable++)
    transfer(file, variable, frame, own ? owner : 0, reads, data, info, &seconds, &code, &bad);
  began = MPI_Wtime();
  if (!reads && study.sync && code == MPI_SUCCESS) code = MPI_File_sync(file);
  int closed = MPI_File_close(&file);
  seconds += MPI_Wtime() - began;
  MPI_Info_free(&info);
  require_io(code == MPI_SUCCESS ? closed : code, reads ? "read" : "write", name);
  require(bad < 0 ? NULL : "%s: byte %lld of the data is not what was written", name, (long long)bad);
  MPI_Allreduce(&seconds, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

// Reads the data of a file once, by all ranks together (`whole`: each all of it), in contiguous
// pieces, not those that were written; the seconds of the slowest rank.
static double go_through(int frame, int whole, long long piece, uint32_t *data) {
  char name[TEXT];
  int own = !strcmp(study.files, "rank"), owner = own ? (rank + 1) % ranks : 0;
  long long all = study.variables * variable_bytes() / 4, start = 0, size = all;
  MPI_Offset bad = -1;
  MPI_File file;
  double seconds = 0, worst;
  MPI_Info info = hints();
  if (!own && !whole) part(all, ranks, (rank + 1) % ranks, &start, &size);
  name_file(name, frame, owner);
  double began = MPI_Wtime();
  int code = MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, info, &file);
  seconds += MPI_Wtime() - began;
  MPI_Info_free(&info);
  require_io(code, "read", name);
  for (long long at = start; at < start + size && bad < 0 && code == MPI_SUCCESS; at += piece / 4) {
    int words = (int)(start + size - at < piece / 4 ? start + size - at : piece / 4), got = 0;
    MPI_Status status;
    began = MPI_Wtime();
    code = MPI_File_read_at(file, study.begin + 4 * at, data, 4 * words, MPI_BYTE, &status);
    seconds += MPI_Wtime() - began;
    if (code == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &got);
    if (code == MPI_SUCCESS && got != 4 * words) code = MPI_ERR_TRUNCATE;
    if (code == MPI_SUCCESS && study.check) bad = wrong(data, at, words, frame, owner);
  }
  MPI_File_close(&file);
  require_io(code, "read", name);
  require(bad < 0 ? NULL : "%s: byte %lld of the data is not what was written", name, (long long)bad);
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
  if (strcmp(study.calls, "view")) {
    for (long i = 0; i < count; i++) most = runs[i].words > most ? runs[i].words : most;
  } else most = words > most ? words : most;
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
  uint32_t *data = malloc(4 * (most + 1));
  require(data ? NULL : "rank %d has no memory for %lld bytes", rank, 4 * most);
  if (data) fill(data, 0, most, 0, 0);
  int whole = !strcmp(study.read, "whole"), reads = !strcmp(study.read, "own");
  long long bytes = study.variables * variable_bytes() * (strcmp(study.files, "rank") ? 1 : ranks);
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
    if (reads) { // what another rank has written, which its own memory does not hold
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
