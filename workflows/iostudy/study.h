// The study of a run, as study.txt and study.head describe it, and how all ranks end together.
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = 4, HINTS = 32, TEXT = 256 };
typedef struct { char key[TEXT], value[TEXT]; } Hint;

static struct {
  char pattern[TEXT], files[TEXT], calls[TEXT], read[TEXT];
  long long shape[DIMENSIONS], split[DIMENSIONS], words, variables, transfer, block, segments;
  long long frames, begin, collective, sync, check, ranks, pause_ms;
  int dimensions, hints;
  Hint hint[HINTS];
} study;
static int rank, ranks, own, view; // own: a file per rank; view: all runs in one call

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
    for (char *c = text; *c; c++)
      if (*c == '\n') *c = ' ';
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

static void require_right(long long bad, const char *file) {
  require(bad < 0 ? NULL : "%s: byte %lld of the data is not what was written", file, bad);
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
  own = !strcmp(study.files, "rank");
  view = !strcmp(study.calls, "view");
  require(study.ranks == ranks ? NULL : "%s is for %lld ranks, and MPI started %d (is the launcher "
          "of the same MPI as the compiler?)", path, study.ranks, ranks);
}

static char *read_head(const char *path) {
  char *head = calloc(1, study.begin);
  FILE *file = head ? fopen(path, "rb") : NULL;
  size_t size = file ? fread(head, 1, study.begin, file) : 0;
  if (file) fclose(file);
  require(size == (size_t)study.begin ? NULL : "cannot read %s: %zu bytes of %lld", path, size,
          study.begin);
  return head;
}
