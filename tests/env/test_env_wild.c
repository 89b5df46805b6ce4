/* Whatever stands in the buffers that a user writes - numbers out of any range, texts of bits that are no
 * numbers, windows, slots and sources that do not exist, damaged states - an environment goes on, breaks
 * no promise of its kernels, and does the same everywhere: with promises checked, on several threads, in
 * the interpreter, on a GPU (the emulated one where WB_CUDART names it). */
#include "market.h"

#include "base/hash.h"

enum { CASES = 16, STEPS = 14, FLOATS = 8, TAPES = 2, GPU_CASES = 6, INTERPRETED = 3 };

typedef struct wild {
  uint64_t state;
  wb_env *env;
  wb_hasher *seen; /* what is seen in the run, in order */
} wild;

static uint64_t next(wild *w) {
  uint64_t z = (w->state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static int32_t below(wild *w, int32_t count) { return (int32_t)(next(w) % (uint64_t)count); }

/* ---- configurations ---- */

static void any_agents(wild *w, wb_env_config *c, wb_env_agents groups[WB_ENV_GROUPS_MAX]) {
  c->agents = groups;
  c->agent_groups = 1 + below(w, 3);
  for (int32_t g = 0; g < c->agent_groups; g++) {
    const wb_env_task *task = wb_env_task_at(below(w, wb_env_task_count()));
    groups[g] = (wb_env_agents){.task = task->name,
                                .actions = task->action_spaces[below(w, 3)].name,
                                .count = 1 + below(w, 3)};
  }
}

static wb_env_config any_config(wild *w, wb_env_agents groups[WB_ENV_GROUPS_MAX],
                                const wb_tape *const *tapes) {
  static const int32_t levels[] = {0, 1, 5, 10, 50};
  wb_env_config c = wb_env_config_default();
  any_agents(w, &c, groups);
  c.tapes = tapes;
  c.tape_count = 1 + below(w, TAPES);
  c.envs = 1 + below(w, 9);
  c.levels = levels[below(w, 5)];
  c.clock = (wb_env_clock)below(w, 3);
  c.autoreset = (wb_env_autoreset)below(w, 3);
  c.windows = (wb_env_windows)below(w, 2);
  c.rules.capacity = below(w, 3) == 0 ? 0 : 32 << below(w, 4);
  c.rules.displaced = (wb_displaced)below(w, 2);
  c.snapshot_messages = 1 + below(w, 200);
  c.messages_per_step = 1 + below(w, 40);
  c.step_ms = 1 + below(w, 2000);
  c.episode_messages = below(w, 300);
  c.short_windows = true;
  c.record_room = below(w, 2) * 40;
  c.seed = next(w);
  return c;
}

/* ---- what may stand in a buffer ---- */

static uint32_t any_bits(wild *w) {
  static const float floats[FLOATS] = {0.0f, -0.0f, 1.0f, -3.5f, 1e30f, -1e30f, 1e-40f, 250.0f};
  static const uint32_t words[] = {0x7fc00000, 0xff800000, 0x7f800000, 0x7fffffff,
                                   0x80000000, 0xffffffff, 0xffc12345, 0};
  uint32_t bits;
  switch (below(w, 4)) {
  case 0: memcpy(&bits, &floats[below(w, FLOATS)], 4); return bits;
  case 1: return words[below(w, 8)];
  case 2: return (uint32_t)below(w, 12);
  default: return (uint32_t)next(w);
  }
}

/* Fills a buffer with what may stand in it, about every `part`-th element; the others stay. */
static void spoil(wild *w, const char *name, int32_t part) {
  wb_env_buffer b;
  MUST(wb_env_buffer_find(w->env, name, &b, error));
  size_t count = 1, each = b.type == WB_ENV_U8 ? 1 : b.type == WB_ENV_I64 ? 8 : 4;
  for (int32_t d = 0; d < b.dimensions; d++) count *= (size_t)b.shape[d];
  unsigned char *bytes = malloc(count * each);
  MUST(wb_env_read(w->env, name, bytes, count * each, error));
  for (size_t i = 0; i < count; i++) {
    if (below(w, part) != 0) continue;
    for (size_t at = 0; at < each; at += 4) {
      uint32_t bits = any_bits(w);
      memcpy(bytes + i * each + at, &bits, each < 4 ? each : 4);
    }
  }
  MUST(wb_env_write(w->env, name, bytes, count * each, error));
  free(bytes);
}

static void spoil_parameters(wild *w) {
  for (int32_t i = 0; i < wb_env_buffer_count(w->env); i++) {
    wb_env_buffer b;
    MUST(wb_env_buffer_at(w->env, i, &b, error));
    if (b.role == WB_ENV_ROLE_PARAMETER) spoil(w, b.name, 6);
  }
}

/* ---- what is seen ---- */

static void see(wild *w, const char *name) {
  wb_env_buffer b;
  MUST(wb_env_buffer_find(w->env, name, &b, error));
  size_t bytes = b.type == WB_ENV_U8 ? 1 : b.type == WB_ENV_I64 ? 8 : 4;
  for (int32_t d = 0; d < b.dimensions; d++) bytes *= (size_t)b.shape[d];
  if (b.data == NULL) return;
  unsigned char *copy = malloc(bytes);
  MUST(wb_env_read(w->env, name, copy, bytes, error));
  wb_hasher_add(w->seen, copy, bytes);
  free(copy);
}

static void see_all(wild *w, int32_t envs) {
  static const char *const names[] = {"observation", "final_obs", "action_mask", "reward",
                                      "profit",      "fees",      "terminated",  "truncated",
                                      "done",        "reason",    "elapsed",     "messages",
                                      "window",      "episode",   "errors"};
  uint64_t hashes[16];
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) see(w, names[i]);
  MUST(wb_env_hashes(w->env, hashes, error));
  wb_hasher_add(w->seen, hashes, (size_t)envs * sizeof *hashes);
  int32_t errors[16];
  MUST(wb_env_read(w->env, "errors", errors, (size_t)envs * 4, error));
  for (int32_t e = 0; e < envs; e++) cr_assert_eq(errors[e] & WB_ENV_ERROR_KERNEL, 0);
}

/* ---- a life ---- */

typedef struct memory {
  void *states; /* device */
  size_t bytes;
  const uint8_t *mask;
  const int32_t *starts;
} memory;

static void damage_states(wild *w, const memory *m) {
  wb_device *device = wb_env_device(w->env);
  unsigned char *bytes = malloc(m->bytes);
  MUST(wb_device_read(device, bytes, m->states, m->bytes, error));
  if (m->bytes > 0) bytes[next(w) % m->bytes] ^= (unsigned char)(1 << below(w, 8));
  MUST(wb_device_write(device, m->states, bytes, m->bytes, error));
  free(bytes);
}

static void do_something(wild *w, const memory *m) {
  spoil(w, "mask", 2);
  spoil(w, "starts", 2);
  switch (below(w, 8)) {
  case 0: MUST(wb_env_reset(w->env, m->mask, m->starts, error)); break;
  case 1: MUST(wb_env_reset(w->env, m->mask, NULL, error)); break;
  case 2: MUST(wb_env_clone(w->env, m->mask, m->starts, error)); break;
  case 3: MUST(wb_env_truncate(w->env, m->mask, error)); break;
  case 4: MUST(wb_env_state_get(w->env, m->mask, m->states, error)); break;
  case 5:
    damage_states(w, m);
    MUST(wb_env_state_set(w->env, m->mask, m->states, error));
    break;
  case 6: MUST(wb_env_state_set(w->env, m->mask, m->states, error)); break;
  default: spoil(w, "seeds", 2); spoil(w, "next_episode", 2);
  }
}

static void act(wild *w) {
  int what = below(w, 4);
  if (what > 0) MUST(wb_env_act(w->env, "random", -1, error));
  if (what < 3) spoil(w, "action", what == 0 ? 1 : 5);
}

/* One life, the same for equal seeds; the hash of all that was seen in it. */
static wb_hash128 live(uint64_t seed, const wb_tape *const *tapes, const char *device,
                       int32_t threads, const wb_kernel_options *options) {
  wb_env_agents groups[WB_ENV_GROUPS_MAX];
  wb_hasher seen;
  wild w = {.state = seed, .seen = &seen};
  wb_env_config c = any_config(&w, groups, tapes);
  wb_env_buffer mask, starts;
  wb_hasher_start(&seen);
  c.device = device;
  c.threads = threads;
  c.kernel = *options;
  MUST(wb_env_create(&c, &w.env, error));
  MUST(wb_env_buffer_find(w.env, "mask", &mask, error));
  MUST(wb_env_buffer_find(w.env, "starts", &starts, error));
  memory m = {.bytes = (size_t)wb_env_state_bytes(w.env) * (size_t)c.envs,
              .mask = mask.data,
              .starts = starts.data};
  wb_device *own = wb_env_device(w.env);
  MUST(wb_device_allocate(own, m.bytes, &m.states, error));
  MUST(wb_device_fill(own, m.states, 0, m.bytes, error));
  MUST(wb_env_reset(w.env, NULL, NULL, error));
  for (int i = 0; i < STEPS; i++) {
    if (below(&w, 3) == 0) do_something(&w, &m);
    if (below(&w, 4) == 0) spoil_parameters(&w);
    act(&w);
    MUST(wb_env_step(w.env, error));
    see_all(&w, c.envs);
  }
  MUST(wb_env_wait(w.env, error));
  wb_device_free(own, m.states);
  wb_env_destroy(w.env);
  return wb_hasher_end(&seen);
}

static bool has_gpu(void) {
  wb_device *device = NULL;
  bool there = wb_device_open("cuda", &device, NULL) == WB_OK;
  wb_device_close(device);
  return there;
}

static void expect_same(wb_hash128 one, wb_hash128 other, int number, const char *where) {
  cr_expect(one.low == other.low && one.high == other.high, "case %d differs %s", number, where);
}

Test(wild, nothing_a_user_writes_breaks_an_environment) {
  wb_tape *made[TAPES] = {make_market(91, 700), make_market(92, 400)};
  const wb_tape *tapes[TAPES] = {made[0], made[1]};
  const char *first = getenv("WB_WILD_FIRST");
  int from = first != NULL ? atoi(first) : 0;
  bool gpu = has_gpu();
  const wb_kernel_options plain = {.cpu = NULL}, checked = {.check = true},
                          interpreted = {.interpret = true};
  for (int i = from; i < from + CASES; i++) {
    uint64_t seed = 1000 + (uint64_t)i;
    wb_hash128 hash = live(seed, tapes, "cpu", 1, &plain);
    expect_same(hash, live(seed, tapes, "cpu", 3, &checked), i,
                "with promises checked, on threads");
    if (i % CASES < INTERPRETED) {
      expect_same(hash, live(seed, tapes, "cpu", 1, &interpreted), i, "in the interpreter");
    }
    if (gpu && i % CASES < GPU_CASES) {
      expect_same(hash, live(seed, tapes, "cuda", 0, &plain), i, "on the GPU");
    }
  }
  for (int t = 0; t < TAPES; t++) wb_tape_free(made[t]);
}
