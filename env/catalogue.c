/* See catalogue.h. An environment that exists on paper only, its shape, is enough to record all of
 * its programs. */
#include "env/catalogue.h"

#include "env/world.h"
#include "kernels/catalogue.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- programs ---- */

typedef wb_status program_function(const wb_env *env, wb_program **out, wb_error *error);

wb_status env_program(const wb_env *env, env_kernel which, wb_program **out, wb_error *error) {
  static program_function *const functions[] = {
      [KERNEL_STEP] = step_program,       [KERNEL_RESET] = reset_program,
      [KERNEL_OBSERVE] = observe_program, [KERNEL_TRUNCATE] = truncate_program,
      [KERNEL_HASH] = hash_program,
  };
  if ((int)which >= (int)POLICY_FIRST) return policy_program(env, which, out, error);
  return functions[which](env, out, error);
}

/* ---- words ---- */

enum { VARIANT_BYTES = 512 };

typedef struct words {
  char text[VARIANT_BYTES];
  size_t used;
} words;

static void say(words *w, const char *format, ...) WB_PRINTF(2, 3);
static void say(words *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int more = vsnprintf(w->text + w->used, sizeof w->text - w->used, format, arguments);
  va_end(arguments);
  w->used += more > 0 ? (size_t)more : 0;
  if (w->used >= sizeof w->text) w->used = sizeof w->text - 1;
}

static void say_variant(words *w, const wb_env *env) {
  for (int32_t g = 0; g < env->group_count; g++) {
    const env_group *group = &env->groups[g];
    say(w, "%s%s:%s", g > 0 ? "+" : "", group->task->public.name, group->space->name);
    if (group->count > 1) say(w, "*%d", group->count);
  }
  say(w, " levels-%d", env->levels);
  if (env->clock == WB_ENV_CLOCK_TIME) say(w, " clock-time");
  if (env->clock == WB_ENV_CLOCK_FILL) say(w, " clock-fill");
  if (env->autoreset == WB_ENV_AUTORESET_NEXT_STEP) say(w, " next-step");
  if (env->autoreset == WB_ENV_AUTORESET_DISABLED) say(w, " no-autoreset");
  if (env->windows == WB_ENV_WINDOWS_SEQUENTIAL) say(w, " sequential");
  if (env->record_room > 0) say(w, " records");
}

/* ---- the tour ---- */

typedef struct tour {
  wb_env env; /* on paper */
  const wb_book_rules *rules;
  wb_book_features features; /* of the tape */
  words variant;
  wb_catalogue_visit *visit;
  void *context;
} tour;

/* Shows a program that `status` may be about, and frees it. */
static wb_status show(const tour *t, wb_status status, wb_program *program, wb_error *error) {
  if (status != WB_OK) return status;
  const wb_catalogue_item item = {.name = program->name + strlen("wb_"),
                                  .variant = t->variant.text,
                                  .capacity = t->rules->capacity,
                                  .program = program};
  status = t->visit(t->context, &item, error);
  wb_program_free(program);
  return status;
}

static bool asks_for(const wb_env *env, env_kernel which) {
  if ((int)which < (int)POLICY_FIRST) return true;
  for (int32_t g = 0; g < env->group_count; g++) {
    if (policy_plays(which, &env->groups[g])) return true;
  }
  return false;
}

static wb_status show_own(const tour *t, wb_error *error) {
  for (int32_t k = 0; k < KERNEL_COUNT; k++) {
    wb_program *program = NULL;
    if (!asks_for(&t->env, (env_kernel)k)) continue;
    wb_status status = env_program(&t->env, (env_kernel)k, &program, error);
    WB_TRY(show(t, status, program, error));
  }
  for (int32_t c = 0; c < COPY_COUNT; c++) {
    wb_program *program = NULL;
    wb_status status = copy_program(&t->env, (env_copy)c, &program, error);
    WB_TRY(show(t, status, program, error));
  }
  wb_program *program = NULL;
  wb_status status = wb_query_program_build(t->env.layout.book, WB_QUERY_HASHES, &program, error);
  return show(t, status, program, error);
}

/* What snapshots are made with: books without agents. */
static wb_status show_snapshots(const tour *t, wb_error *error) {
  wb_book_layout *layout;
  wb_program *program = NULL;
  WB_TRY(wb_book_layout_new(t->rules->capacity, &layout, error));
  wb_status status = save_program(layout, &program, error);
  status = show(t, status, program, error);
  if (status == WB_OK) {
    status = wb_run_program_build(layout, &t->features, &program, error);
    status = show(t, status, program, error);
  }
  wb_book_layout_free(layout);
  return status;
}

static wb_status show_all(tour *t, const wb_env_config *config, wb_error *error) {
  WB_TRY(env_shape_agents(&t->env, config, error));
  WB_TRY(env_shape_books(&t->env, t->rules, &t->features, error));
  say_variant(&t->variant, &t->env);
  WB_TRY(show_own(t, error));
  return show_snapshots(t, error);
}

wb_status wb_env_catalogue_of(const wb_env_config *config, const wb_book_rules *rules,
                              wb_catalogue_visit *visit, void *context, wb_error *error) {
  WB_TRY(env_check_agents(config, error));
  WB_TRY(wb_book_rules_check(rules, error));
  tour *t = calloc(1, sizeof *t);
  if (t == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory");
  t->rules = rules;
  t->visit = visit;
  t->context = context;
  t->features = wb_features_usual(WB_FEATURES_REPLAY, rules);
  wb_status status = show_all(t, config, error);
  env_shape_free(&t->env);
  free(t);
  return status;
}

wb_status wb_env_catalogue(const wb_book_rules *rules, wb_catalogue_visit *visit, void *context,
                           wb_error *error) {
  for (int32_t i = 0; i < wb_env_task_count(); i++) {
    const wb_env_task *task = wb_env_task_at(i);
    for (int32_t s = 0; s < task->action_space_count; s++) {
      const wb_env_agents agents = {task->name, task->action_spaces[s].name, 1};
      wb_env_config config = wb_env_config_default();
      config.agents = &agents;
      config.agent_groups = 1;
      WB_TRY(wb_env_catalogue_of(&config, rules, visit, context, error));
    }
  }
  return WB_OK;
}
