/* Learning without a network library: evolution strategies improve a linear execution policy that runs
 * on the device, then it is judged on windows of the day that it has never seen.
 *
 *   cc linear_policy_search.c $(pkg-config --cflags --libs warpbook) -lm -o linear_policy_search
 *   ./linear_policy_search INPUT [GENERATIONS] [SEED] [DEVICE]
 *
 * The policy looks at five features and says how much to send at each of the four prices. It starts as
 * TWAP: all that an even schedule is behind at the far touch. Each generation plays perturbed weights,
 * in pairs of opposite sign, on the same few training windows, buying and selling (so that the market's
 * drift cancels), and steps along the better ones (Salimans et al. 2017, with ranks). At the end the
 * learned policy and TWAP play every unseen window in both directions; windows do not overlap, so their
 * differences are nearly independent, and a t-interval tells what the mean difference is worth. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpbook/compiler/device.h>
#include <warpbook/data/input.h>
#include <warpbook/env/env.h>

#include <warpbook/compiler/dsl.h>

enum {
  EPISODE = 2000, /* source rows */
  STEP = 40,
  STEPS = EPISODE / STEP,
  QUANTITY = 200, /* shares */
  PRICES = 4,
  INPUTS = 5,
  WEIGHTS = PRICES * INPUTS,
  PAIRS = 16,   /* of perturbations, a generation */
  WINDOWS = 16, /* of training, a generation; each bought and sold */
  ENVS = 2 * PAIRS * WINDOWS * 2
};

typedef struct search {
  wb_env *env;
  wb_device *device;
  wb_kernel *policy;
  wb_env_buffer action, observation;
  float *weights, *device_weights; /* [ENVS][WEIGHTS] */
  int32_t *starts;                 /* [ENVS] */
  double *cost;                    /* [ENVS]: of an episode, price units a share */
  int32_t *train, *test;
  int32_t train_count, test_count;
  uint64_t random;
} search;

/* ---- the policy, as a program for the device ---- */

static int32_t feature(const wb_env_buffer *observation, const char *name) {
  int32_t i = 0;
  while (i < observation->shape[2] && strcmp(observation->features[i], name) != 0) i++;
  return i;
}

static val clamp(wb_builder *b, val x) { return min(max(x, 0.0f), 1.0f); }

static wb_status build_policy(const wb_env_buffer *o, wb_program **program, wb_error *error) {
  wb_builder *b;
  WB_TRY(wb_builder_new("linear_policy", WB_WIDTH, NULL, &b, error));
  array seen = buffer_per_book("observation", F32);
  array weights = buffer_per_book("weights", F32);
  array action = buffer_per_book_out("action", F32);
  val elapsed = load(seen, feature(o, "elapsed"));
  val remaining = load(seen, feature(o, "remaining"));
  val direction = load(seen, feature(o, "direction"));
  /* what an even schedule has traded by the next decision, less what was */
  val due = mul(min(add(elapsed, (float)STEP / EPISODE), 1.0f), (float)QUANTITY);
  val behind = max(sub(due, sub((float)QUANTITY, remaining)), 0.0f);
  val inputs[INPUTS] = {
      f32(1.0f),
      elapsed,
      mul(behind, 10.0f / QUANTITY),
      mul(load(seen, feature(o, "spread")), 0.05f),
      mul(direction, load(seen, feature(o, "imbalance"))),
  };
  for (int32_t p = 0; p < PRICES; p++) {
    val sum = f32(0.0f);
    for (int32_t i = 0; i < INPUTS; i++) {
      sum = add(sum, mul(load(weights, p * INPUTS + i), inputs[i]));
    }
    /* the far touch gets a part of what is due, the other prices of all that remains */
    store(action, p, mul(clamp(b, sum), p == 0 ? behind : remaining));
  }
  return wb_builder_finish(b, program, error);
}

static wb_status launch_policy(search *s, wb_error *error) {
  const wb_buffer_argument buffers[] = {
      {s->observation.data, s->observation.shape[2], s->observation.strides[0]},
      {s->device_weights, WEIGHTS, WEIGHTS},
      {s->action.data, s->action.shape[2], s->action.strides[0]},
  };
  const wb_launch launch = {.books = ENVS, .buffers = buffers, .buffer_count = 3};
  return wb_device_launch(s->device, s->policy, &launch, error);
}

/* ---- episodes ---- */

static double uniform(search *s) {
  uint64_t z = (s->random += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double normal(search *s) {
  double u = uniform(s), v = uniform(s);
  return sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
}

/* One episode of every environment; with lambda 1 rewards add up to what the fills gained on arrival. */
static wb_status play(search *s, bool twap, wb_error *error) {
  float reward[ENVS];
  wb_env_buffer starts;
  WB_TRY(wb_device_write(s->device, s->device_weights, s->weights, sizeof(float) * ENVS * WEIGHTS,
                         error));
  WB_TRY(wb_env_write(s->env, "starts", s->starts, sizeof(int32_t) * ENVS, error));
  WB_TRY(wb_env_buffer_find(s->env, "starts", &starts, error));
  WB_TRY(wb_env_reset(s->env, NULL, starts.data, error));
  memset(s->cost, 0, sizeof *s->cost * ENVS);
  for (int step = 0; step < STEPS; step++) {
    WB_TRY(twap ? wb_env_act(s->env, "twap", -1, error) : launch_policy(s, error));
    WB_TRY(wb_env_step(s->env, error));
    WB_TRY(wb_env_read(s->env, "reward", reward, sizeof reward, error));
    for (int e = 0; e < ENVS; e++) s->cost[e] -= reward[e];
  }
  return WB_OK;
}

/* ---- evolution ---- */

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Environment e plays member e / (2 x WINDOWS) on window (e / 2) % WINDOWS, buying if e is even. */
static wb_status generation(search *s, float *theta, double sigma, double rate, double *mean,
                            wb_error *error) {
  static double noise[PAIRS][WEIGHTS];
  double fitness[2 * PAIRS], sorted[2 * PAIRS], step[WEIGHTS] = {0};
  int32_t chosen[WINDOWS];
  for (int w = 0; w < WINDOWS; w++) chosen[w] = s->train[(int)(uniform(s) * s->train_count)];
  for (int p = 0; p < PAIRS; p++) {
    for (int i = 0; i < WEIGHTS; i++) noise[p][i] = normal(s);
  }
  for (int e = 0; e < ENVS; e++) {
    int member = e / (2 * WINDOWS), pair = member / 2;
    double sign = member % 2 == 0 ? sigma : -sigma;
    s->starts[e] = chosen[e / 2 % WINDOWS];
    for (int i = 0; i < WEIGHTS; i++) {
      s->weights[e * WEIGHTS + i] = theta[i] + (float)(sign * noise[pair][i]);
    }
  }
  WB_TRY(play(s, false, error));
  *mean = 0;
  for (int m = 0; m < 2 * PAIRS; m++) {
    fitness[m] = 0;
    for (int n = 0; n < 2 * WINDOWS; n++)
      fitness[m] -= s->cost[m * 2 * WINDOWS + n] / (2 * WINDOWS);
    sorted[m] = fitness[m];
    *mean -= fitness[m] / (2 * PAIRS);
  }
  qsort(sorted, 2 * PAIRS, sizeof *sorted, compare);
  for (int m = 0; m < 2 * PAIRS; m++) {
    int rank = 0;
    while (sorted[rank] < fitness[m]) rank++;
    double weight = (double)rank / (2 * PAIRS - 1) - 0.5;
    for (int i = 0; i < WEIGHTS; i++) {
      step[i] += weight * (m % 2 == 0 ? 1 : -1) * noise[m / 2][i];
    }
  }
  for (int i = 0; i < WEIGHTS; i++) theta[i] += (float)(rate * step[i] / (2 * PAIRS));
  return WB_OK;
}

/* ---- judging ---- */

/* Mean cost of each unseen window over both directions. */
static wb_status judge(search *s, const float *theta, bool twap, double *cost, wb_error *error) {
  for (int32_t first = 0; first < s->test_count; first += ENVS / 2) {
    for (int e = 0; e < ENVS; e++) {
      int32_t n = first + e / 2;
      s->starts[e] = s->test[n < s->test_count ? n : first];
      memcpy(s->weights + e * WEIGHTS, theta, sizeof(float) * WEIGHTS);
    }
    WB_TRY(play(s, twap, error));
    for (int32_t n = first; n < s->test_count && n < first + ENVS / 2; n++) {
      cost[n] = 0.5 * (s->cost[2 * (n - first)] + s->cost[2 * (n - first) + 1]);
    }
  }
  return WB_OK;
}

/* Two-sided 99 % points of Student's t by degrees of freedom: the nearest smaller one given. */
static double t_99(int freedom) {
  static const struct {
    int freedom;
    double t;
  } table[] = {{1, 63.66},  {2, 9.925},  {3, 5.841},  {4, 4.604},  {5, 4.032},
               {6, 3.707},  {8, 3.355},  {10, 3.169}, {15, 2.947}, {20, 2.845},
               {30, 2.750}, {60, 2.660}, {120, 2.617}};
  double t = table[0].t;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (table[i].freedom <= freedom) t = table[i].t;
  }
  return t;
}

static wb_status report(search *s, const float *theta, wb_error *error) {
  double *learned = calloc(2 * (size_t)s->test_count, sizeof *learned);
  double *twap = learned + s->test_count;
  if (learned == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "no memory");
  wb_status status = judge(s, theta, false, learned, error);
  if (status == WB_OK) status = judge(s, theta, true, twap, error);
  double means[2] = {0, 0}, mean = 0, squares = 0;
  int n = s->test_count;
  for (int i = 0; i < n; i++) {
    means[0] += learned[i] / n;
    means[1] += twap[i] / n;
    mean += (twap[i] - learned[i]) / n;
  }
  for (int i = 0; i < n; i++) squares += pow(twap[i] - learned[i] - mean, 2);
  double half = n > 1 ? t_99(n - 1) * sqrt(squares / (n - 1) / n) : INFINITY;
  free(learned);
  if (status != WB_OK) return status;
  printf("unseen windows: %d, each bought and sold; shortfall in price units a share\n", n);
  printf("  twap    %9.1f\n  learned %9.1f\n", means[1], means[0]);
  printf("  saved   %9.1f +- %.1f (99 %%)\n", mean, half);
  printf("%s\n", mean - half > 0 ? "the learned policy beats TWAP" : "no proof that it beats TWAP");
  return WB_OK;
}

/* ---- all of it ---- */

/* Trains on the first 60 % of the day; tests on windows that lie wholly behind, none in another. */
static wb_status choose_windows(search *s, int64_t rows, wb_error *error) {
  int32_t count = wb_env_window_count(s->env);
  int64_t border = rows * 6 / 10, next = border + EPISODE;
  s->train = calloc(2 * (size_t)count, sizeof *s->train);
  if (s->train == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "no memory");
  s->test = s->train + count;
  for (int32_t i = 0; i < count; i++) {
    wb_env_window w;
    WB_TRY(wb_env_window_at(s->env, i, &w, error));
    if (w.messages < EPISODE) continue;
    if (w.row + EPISODE <= border) s->train[s->train_count++] = i;
    if (w.row >= next) {
      s->test[s->test_count++] = i;
      next = w.row + EPISODE;
    }
  }
  if (s->train_count == 0 || s->test_count == 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "the day is too short to train and to test");
  }
  return WB_OK;
}

static wb_status open_search(search *s, const wb_tape *const *tape, const char *device,
                             wb_error *error) {
  const wb_env_agents agents[] = {{.task = "execution", .actions = "quantities", .count = 1}};
  wb_env_config config = wb_env_config_default();
  config.device = device;
  config.tapes = tape, config.tape_count = 1;
  config.agents = agents, config.agent_groups = 1;
  config.envs = ENVS;
  config.messages_per_step = STEP, config.episode_messages = EPISODE;
  config.snapshot_messages = 500;
  config.levels = 1;
  config.autoreset = WB_ENV_AUTORESET_DISABLED;
  WB_TRY(wb_env_create(&config, &s->env, error));
  s->device = wb_env_device(s->env);
  const double quantity = QUANTITY, one = 1;
  static double sides[ENVS];
  for (int e = 0; e < ENVS; e++) sides[e] = e % 2;
  WB_TRY(wb_env_set_parameter(s->env, "quantity", &quantity, 1, error));
  WB_TRY(wb_env_set_parameter(s->env, "reward_scale", &quantity, 1, error));
  WB_TRY(wb_env_set_parameter(s->env, "size_scale", &one, 1, error));
  WB_TRY(wb_env_set_parameter(s->env, "side", sides, ENVS, error));
  WB_TRY(wb_env_buffer_find(s->env, "action", &s->action, error));
  WB_TRY(wb_env_buffer_find(s->env, "observation", &s->observation, error));
  wb_program *program;
  WB_TRY(build_policy(&s->observation, &program, error));
  wb_status status = wb_device_compile(s->device, program, NULL, &s->policy, NULL, error);
  wb_program_free(program);
  WB_TRY(status);
  void *memory;
  WB_TRY(wb_device_allocate(s->device, sizeof(float) * ENVS * WEIGHTS, &memory, error));
  s->device_weights = memory;
  s->weights = calloc(ENVS * WEIGHTS, sizeof *s->weights);
  s->starts = calloc(ENVS, sizeof *s->starts);
  s->cost = calloc(ENVS, sizeof *s->cost);
  if (s->weights == NULL || s->starts == NULL || s->cost == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "no memory");
  }
  return choose_windows(s, tape[0]->row_count > 0 ? tape[0]->row_count : tape[0]->record_count,
                        error);
}

static wb_status run(search *s, int generations, wb_error *error) {
  float theta[WEIGHTS] = {[0] = 1}; /* TWAP */
  for (int g = 0; g < generations; g++) {
    double mean;
    WB_TRY(generation(s, theta, 0.15, 0.6, &mean, error));
    if (g % 10 == 0 || g == generations - 1) {
      printf("generation %3d: mean shortfall of its members %9.1f\n", g, mean);
      fflush(stdout);
    }
  }
  return report(s, theta, error);
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 5) {
    fprintf(stderr, "usage: %s INPUT [GENERATIONS] [SEED] [DEVICE]\n", argv[0]);
    return 2;
  }
  wb_error error = {0};
  wb_tape *tape = NULL;
  search s = {.random = argc > 3 ? strtoull(argv[3], NULL, 10) : 1};
  wb_status status = wb_tape_read(argv[1], NULL, &tape, &error);
  if (status == WB_OK) {
    status = open_search(&s, (const wb_tape *const *)&tape, argc > 4 ? argv[4] : "cpu", &error);
  }
  if (status == WB_OK) status = run(&s, argc > 2 ? (int)strtol(argv[2], NULL, 10) : 100, &error);
  if (status != WB_OK) fprintf(stderr, "%s\n", error.text);
  wb_kernel_release(s.policy);
  if (s.env != NULL) wb_device_free(s.device, s.device_weights);
  wb_env_destroy(s.env);
  wb_tape_free(tape);
  free(s.weights);
  free(s.starts);
  free(s.cost);
  free(s.train);
  return status == WB_OK ? 0 : 1;
}
