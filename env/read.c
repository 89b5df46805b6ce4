/* Reading back: accounts, records, the book of one environment, statistics. */
#include "env/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static wb_status check_index(const char *what, int32_t given, int32_t count, wb_error *error) {
  if (given >= 0 && given < count) return WB_OK;
  return WB_FAIL(error, WB_ERROR_ARGUMENT, "env: %s: expected 0 to %d, got %d", what, count - 1,
                 given);
}

wb_status env_read_slab(wb_env *env, int32_t index, wb_error *error) {
  size_t bytes = (size_t)env->layout.stride;
  WB_TRY(check_index("env_index", index, env->envs, error));
  return wb_device_read(env->device, env->image, env->slabs + (size_t)index * bytes, bytes, error);
}

static const int64_t *cells_at(const wb_env *env, wb_array array) {
  return (const int64_t *)(const void *)(env->image +
                                         wb_layout_object(env->layout.book->layout, array)->offset);
}

/* ---- accounts ---- */

static wb_status read_account(wb_env *env, int32_t index, int32_t agent, wb_env_account *out,
                              wb_error *error) {
  WB_TRY(check_index("agent", agent, env->agents, error));
  WB_TRY(env_read_slab(env, index, error));
  const int64_t *cells = cells_at(env, env->layout.agent) + (int64_t)agent * AGENT_CELLS;
  int64_t volume = cells[AGENT_VOLUME], inventory = cells[AGENT_INVENTORY];
  *out = (wb_env_account){
      .cash = cells[AGENT_CASH],
      .inventory = inventory,
      .fees = cells[AGENT_FEES],
      .bought = (volume + inventory) / 2,
      .sold = (volume - inventory) / 2,
      .volume = volume,
      .notional = cells[AGENT_NOTIONAL],
      .taken_volume = cells[AGENT_TAKEN_VOLUME],
      .taken_notional = cells[AGENT_TAKEN_NOTIONAL],
      .target = cells[AGENT_TARGET],
  };
  return WB_OK;
}

wb_status wb_env_read_account(wb_env *env, int32_t env_index, int32_t agent,
                              wb_env_account *account, wb_error *error) {
  wb_error own;
  return env_report(env, read_account(env, env_index, agent, account, &own), &own, error);
}

/* ---- records ---- */

static wb_status read_records(wb_env *env, int32_t index, wb_record *records, int64_t most,
                              int64_t *count, wb_error *error) {
  WB_TRY(check_index("env_index", index, env->envs, error));
  if (env->record_room == 0) {
    return WB_FAIL(error, WB_ERROR_STATE, "env: records: expected config.record_room above 0");
  }
  if (most < 0 || (most > 0 && records == NULL)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "env: records: expected 0 or more and an array of so many, got %" PRId64, most);
  }
  WB_TRY(wb_device_read(env->device, count, env->memory[BUFFER_RING_COUNT] + 8 * (size_t)index,
                        sizeof *count, error));
  int64_t kept = *count < env->record_room ? *count : env->record_room;
  kept = kept < most ? kept : most;
  size_t room = (size_t)env->record_room * sizeof *records;
  return wb_device_read(env->device, records, env->memory[BUFFER_RING] + (size_t)index * room,
                        (size_t)kept * sizeof *records, error);
}

wb_status wb_env_read_records(wb_env *env, int32_t env_index, wb_record *records, int64_t most,
                              int64_t *count, wb_error *error) {
  wb_error own;
  return env_report(env, read_records(env, env_index, records, most, count, &own), &own, error);
}

/* ---- the book ---- */

static wb_status check_asked(wb_side side, const void *array, int64_t most, wb_error *error) {
  if (side != WB_SIDE_BID && side != WB_SIDE_ASK) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "env: side: expected 0 or 1, got %d", (int)side);
  }
  if (most < 0 || (most > 0 && array == NULL)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "env: most: expected 0 or more and an array of so many, got %" PRId64, most);
  }
  return WB_OK;
}

wb_status wb_env_book_levels(wb_env *env, int32_t env_index, wb_side side, wb_level *levels,
                             int32_t most, int32_t *count, wb_error *error) {
  wb_error own;
  wb_status status = check_asked(side, levels, most, &own);
  if (status == WB_OK) status = env_read_slab(env, env_index, &own);
  if (status == WB_OK) {
    *count = wb_slab_levels(env->layout.book, env->image, side, levels, most);
  }
  return env_report(env, status, &own, error);
}

wb_status wb_env_book_orders(wb_env *env, int32_t env_index, wb_side side, wb_order *orders,
                             int64_t most, int64_t *count, wb_error *error) {
  wb_error own;
  wb_status status = check_asked(side, orders, most, &own);
  if (status == WB_OK) status = env_read_slab(env, env_index, &own);
  if (status == WB_OK) {
    *count = wb_slab_orders(env->layout.book, env->image, side, orders, most);
  }
  return env_report(env, status, &own, error);
}

/* ---- statistics ---- */

static const struct {
  const char *name, *unit;
  double scale;
} described[STAT_COUNT] = {
#define X(id, name, unit, scale) {name, unit, scale},
    ENV_STATISTICS(X)
#undef X
};

_Static_assert((int)STAT_COUNT <= (int)WB_ENV_STATISTICS_MAX, "a caller's array must hold all");

static wb_status take_statistics(wb_env *env, int32_t agent, wb_env_statistic *out, int32_t *count,
                                 wb_error *error) {
  WB_TRY(check_index("agent", agent, env->agents, error));
  size_t row = (size_t)env->agents * STAT_COUNT;
  size_t bytes = (size_t)env->envs * row * sizeof(int64_t);
  int64_t *all = malloc(bytes);
  if (all == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory for %zu bytes", bytes);
  wb_status status = wb_device_read(env->device, all, env->memory[BUFFER_STATISTICS], bytes, error);
  for (int32_t s = 0; status == WB_OK && s < STAT_COUNT; s++) {
    int64_t sum = 0;
    for (int32_t e = 0; e < env->envs; e++) {
      int64_t *cell = &all[(size_t)e * row + (size_t)agent * STAT_COUNT + (size_t)s];
      sum = (int64_t)((uint64_t)sum + (uint64_t)*cell);
      *cell = 0;
    }
    out[s] = (wb_env_statistic){described[s].name, described[s].unit,
                                (double)sum * described[s].scale, sum};
  }
  *count = STAT_COUNT;
  if (status == WB_OK) {
    status = wb_device_write(env->device, env->memory[BUFFER_STATISTICS], all, bytes, error);
  }
  free(all);
  return status;
}

wb_status wb_env_take_statistics(wb_env *env, int32_t agent, wb_env_statistic *statistics,
                                 int32_t *count, wb_error *error) {
  wb_error own;
  return env_report(env, take_statistics(env, agent, statistics, count, &own), &own, error);
}
