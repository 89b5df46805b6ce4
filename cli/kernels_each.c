/* Finding kernels by name and words, in the catalogues of all rooms. */
#include "kernels.h"

#include "env/catalogue.h"
#include "kernels/catalogue.h"

#include <stdlib.h>
#include <string.h>

/* Names a program among those of one capacity. */
typedef struct identity {
  wb_hash128 hash;
  char name[WB_NAME_BYTES];
} identity;

typedef struct chosen {
  const kernels_arguments *line;
  wb_catalogue_visit *visit;
  void *context;
  identity *visited;
  int32_t visited_count, room;
} chosen;

static bool has_word(const char *variant, const char *word) {
  char own[KERNELS_WORD_BYTES];
  while (kernels_next_word(&variant, " ", own)) {
    if (strcmp(own, word) == 0) {
      return true;
    }
  }
  return false;
}

static bool fits(const kernels_arguments *line, const wb_catalogue_item *item) {
  char word[KERNELS_WORD_BYTES];
  if (line->kernel != NULL && strcmp(line->kernel, item->name) != 0) {
    return false;
  }
  for (const char *rest = line->words; rest != NULL && kernels_next_word(&rest, ", ", word);) {
    if (!has_word(item->variant, word)) {
      return false;
    }
  }
  return true;
}

/* Notes the program; `again` if it was noted before: environments of one shape share some. */
static wb_status note(chosen *c, const wb_program *program, bool *again, wb_error *error) {
  identity own = {.hash = wb_program_hash(program)};
  memcpy(own.name, program->name, sizeof own.name);
  for (int32_t i = 0; i < c->visited_count; i++) {
    const identity *other = &c->visited[i];
    *again = own.hash.low == other->hash.low && own.hash.high == other->hash.high &&
             strcmp(own.name, other->name) == 0;
    if (*again) {
      return WB_OK;
    }
  }
  if (c->visited_count == c->room) {
    int32_t room = c->room == 0 ? 64 : 2 * c->room;
    identity *grown = realloc(c->visited, (size_t)room * sizeof *grown);
    if (grown == NULL) {
      return WB_FAIL(error, WB_ERROR_MEMORY, "kernels: no memory");
    }
    c->visited = grown;
    c->room = room;
  }
  c->visited[c->visited_count++] = own;
  *again = false;
  return WB_OK;
}

static wb_status pass_on(void *context, const wb_catalogue_item *item, wb_error *error) {
  chosen *c = context;
  bool again = false;
  if (!fits(c->line, item)) {
    return WB_OK;
  }
  WB_TRY(note(c, item->program, &again, error));
  return again ? WB_OK : c->visit(c->context, item, error);
}

/* Books, the environments that were named, the usual ones. */
static wb_status visit_capacity(chosen *c, int32_t capacity, wb_error *error) {
  const kernels_arguments *line = c->line;
  wb_book_rules rules = wb_book_rules_default();
  rules.capacity = capacity;
  WB_TRY(wb_book_catalogue(&rules, pass_on, c, error));
  for (int32_t i = 0; i < line->env_count; i++) {
    wb_env_config config = line->env_config;
    config.agents = line->envs[i].groups;
    config.agent_groups = line->envs[i].group_count;
    WB_TRY(wb_env_catalogue_of(&config, &rules, pass_on, c, error));
  }
  return wb_env_catalogue(&rules, pass_on, c, error);
}

wb_status kernels_each(const kernels_arguments *line, wb_catalogue_visit *visit, void *context,
                       wb_error *error) {
  chosen c = {.line = line, .visit = visit, .context = context};
  wb_status status = WB_OK;
  for (int32_t i = 0; status == WB_OK && i < line->capacity_count; i++) {
    status = visit_capacity(&c, line->capacities[i], error);
  }
  free(c.visited);
  if (status != WB_OK || c.visited_count > 0) {
    return status;
  }
  if (line->words == NULL) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "kernels: there is none named \"%.60s\": `warpbook kernels list' names them",
                   line->kernel != NULL ? line->kernel : "");
  }
  return WB_FAIL(
      error, WB_ERROR_ARGUMENT,
      "kernels: %.60s: no variant has the words \"%.60s\": `warpbook kernels list' names "
      "them",
      line->kernel != NULL ? line->kernel : "any kernel", line->words);
}
