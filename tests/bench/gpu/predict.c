/* What the emulator counts, asked for by name from the library behind $WB_CUDART, and kept in a small
 * text file for the machine with the real GPU. */
#include "gpu.h"

#include "tests/emulator/emulator.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *symbol(const char *name) {
  const char *path = getenv("WB_CUDART");
  void *library = path != NULL && path[0] != '\0' ? dlopen(path, RTLD_NOW) : NULL;
  return library != NULL ? dlsym(library, name) : NULL;
}

bool gpu_cost_start(void) {
  void (*reset)(void) = NULL;
  void *found = symbol("wb_emulator_reset_counts");
  memcpy(&reset, &found, sizeof found);
  if (reset == NULL) return false;
  reset();
  return true;
}

gpu_cost gpu_cost_read(int64_t records) {
  bool (*read_counts)(const char *kernel, wb_emulator_counts *counts) = NULL;
  wb_emulator_counts c;
  void *found = symbol("wb_emulator_read_counts");
  memcpy(&read_counts, &found, sizeof found);
  if (read_counts == NULL || records == 0 || !read_counts("wb_run", &c)) return (gpu_cost){0};
  const double n = (double)records;
  return (gpu_cost){c.sm_cycles / n, (double)c.instructions / n, (double)c.global_sectors / n};
}

void gpu_cost_write(FILE *out, int32_t capacity, int64_t messages, const gpu_cost *cost) {
  fprintf(out, "%d %" PRId64 " %.3f %.3f %.3f\n", capacity, messages, cost->cycles,
          cost->instructions, cost->sectors);
}

gpu_cost gpu_cost_find(const char *path, int32_t capacity, int64_t messages) {
  gpu_cost best = {0};
  double nearest = INFINITY;
  FILE *file = path != NULL ? fopen(path, "r") : NULL;
  int32_t room;
  int64_t count;
  gpu_cost cost;
  while (file != NULL && fscanf(file, "%d %" SCNd64 " %lf %lf %lf", &room, &count, &cost.cycles,
                                &cost.instructions, &cost.sectors) == 5) {
    double away = fabs(log((double)count / (double)messages));
    if (room == capacity && away < nearest) {
      nearest = away;
      best = cost;
    }
  }
  if (file != NULL) fclose(file);
  return best;
}
