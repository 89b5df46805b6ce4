/* Runs ptxas and nvdisasm as programs, on files in a folder of their own that goes afterwards. */
#define _GNU_SOURCE
#include "ptxas.h"

#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool ptxas_find(const char *variable, const char *tool, char path[PTXAS_PATH_BYTES]) {
  const char *chosen = getenv(variable);
  if (chosen != NULL && chosen[0] != '\0') {
    (void)snprintf(path, PTXAS_PATH_BYTES, "%s", chosen);
    return access(path, X_OK) == 0;
  }
  const char *list = getenv("PATH");
  for (const char *at = list; at != NULL && *at != '\0';) {
    int length = (int)strcspn(at, ":");
    (void)snprintf(path, PTXAS_PATH_BYTES, "%.*s/%s", length, at, tool);
    if (length > 0 && access(path, X_OK) == 0) {
      return true;
    }
    at += length + (at[length] == ':');
  }
  (void)snprintf(path, PTXAS_PATH_BYTES, "/usr/local/cuda/bin/%s", tool);
  return access(path, X_OK) == 0;
}

/* Runs a program; both of its outputs go to a file. */
static int run(const char *const *line, const char *output) {
  posix_spawn_file_actions_t actions;
  pid_t child;
  int state = -1;
  if (posix_spawn_file_actions_init(&actions) != 0) {
    return -1;
  }
  (void)posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  (void)posix_spawn_file_actions_adddup2(&actions, 1, 2);
  int failed = posix_spawn(&child, line[0], &actions, NULL, (char *const *)line, environ);
  (void)posix_spawn_file_actions_destroy(&actions);
  if (failed != 0 || waitpid(child, &state, 0) != child) {
    return -1;
  }
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

static char *read_all(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  long end = -1;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
    end = ftell(file);
  }
  if (end >= 0 && fseek(file, 0, SEEK_SET) == 0) {
    text = malloc((size_t)end + 1);
  }
  if (text != NULL && fread(text, 1, (size_t)end, file) != (size_t)end) {
    free(text);
    text = NULL;
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  if (text != NULL) {
    text[end] = '\0';
    *bytes = (size_t)end;
  }
  return text;
}

/* ---- one job ---- */

typedef struct job {
  char folder[PTXAS_PATH_BYTES];
  char ptx[PTXAS_PATH_BYTES + 32], cubin[PTXAS_PATH_BYTES + 32], output[PTXAS_PATH_BYTES + 32];
} job;

/* What an interrupt has to remove: files before their folder. */
static void for_interrupts(const job *j, void (*function)(const char *path)) {
  function(j->ptx);
  function(j->cubin);
  function(j->output);
  function(j->folder);
}

static bool make_folder(job *j) {
  const char *temporary = getenv("TMPDIR");
  (void)snprintf(j->folder, sizeof j->folder, "%s/warpbook-XXXXXX",
                 temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp");
  interrupt_hold();
  bool made = mkdtemp(j->folder) != NULL;
  (void)snprintf(j->ptx, sizeof j->ptx, "%s/kernel.ptx", j->folder);
  (void)snprintf(j->cubin, sizeof j->cubin, "%s/kernel.cubin", j->folder);
  (void)snprintf(j->output, sizeof j->output, "%s/output", j->folder);
  if (made) {
    for_interrupts(j, interrupt_add);
  }
  interrupt_release();
  return made;
}

static bool write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  bool good = file != NULL && fputs(text, file) >= 0;
  return file != NULL && fclose(file) == 0 && good;
}

static void end_job(const job *j) {
  interrupt_hold();
  (void)unlink(j->ptx);
  (void)unlink(j->cubin);
  (void)unlink(j->output);
  (void)rmdir(j->folder);
  for_interrupts(j, interrupt_take_out);
  interrupt_release();
}

/* The number before `words`, as "255 registers". */
static int32_t number_before(const char *text, const char *words) {
  const char *at = text != NULL ? strstr(text, words) : NULL;
  if (at == NULL) {
    return -1;
  }
  while (at > text && at[-1] >= '0' && at[-1] <= '9') {
    at--;
  }
  return (int32_t)strtol(at, NULL, 10);
}

static void read_resources(const char *words, ptxas_result *r) {
  r->registers = -1;
  const char *used = words != NULL ? strstr(words, "Used ") : NULL;
  if (used != NULL) {
    r->registers = (int32_t)strtol(used + strlen("Used "), NULL, 10);
  }
  r->stack_bytes = number_before(words, " bytes stack frame");
  int32_t stores = number_before(words, " bytes spill stores");
  int32_t loads = number_before(words, " bytes spill loads");
  r->spill_bytes = stores < 0 || loads < 0 ? -1 : stores + loads;
}

/* Lines of nvdisasm that are instructions carry their address as a comment in front. */
static int64_t count_machine_code(const job *j) {
  char tool[PTXAS_PATH_BYTES];
  size_t bytes;
  int64_t count = 0;
  if (!ptxas_find("WB_NVDISASM", "nvdisasm", tool)) {
    return -1;
  }
  const char *const line[] = {tool, "-c", j->cubin, NULL};
  char *text = run(line, j->output) == 0 ? read_all(j->output, &bytes) : NULL;
  for (const char *at = text; at != NULL && (at = strstr(at, "/*")) != NULL; at += 2) {
    size_t digits = strspn(at + 2, "0123456789abcdef");
    const char *rest = at + 2 + digits;
    bool is_address = digits >= 4 && strncmp(rest, "*/", 2) == 0;
    /* what fills up the end does not count */
    count += is_address && strncmp(rest + 2 + strspn(rest + 2, " \t"), "NOP", 3) != 0;
  }
  bool ran = text != NULL;
  free(text);
  return ran ? count : -1;
}

static wb_status assemble(const char *path, const job *j, int32_t sm, ptxas_result *r,
                          wb_error *error) {
  char arch[32];
  size_t bytes;
  (void)snprintf(arch, sizeof arch, "-arch=sm_%d", sm);
  const char *const line[] = {path, "-v", arch, j->ptx, "-o", j->cubin, NULL};
  int status = run(line, j->output);
  char *words = read_all(j->output, &bytes);
  if (status == 0) {
    r->cubin = (uint8_t *)read_all(j->cubin, &r->bytes);
  }
  read_resources(words, r);
  wb_status result = WB_OK;
  if (r->cubin == NULL) {
    if (words != NULL) {
      words[strcspn(words, "\n")] = '\0';
    }
    result = WB_FAIL(error, WB_ERROR_FORMAT, "%.200s: exit status %d: %.600s", path, status,
                     words != NULL ? words : "");
  }
  free(words);
  return result;
}

wb_status ptxas_assemble(const char *path, const char *ptx, int32_t sm, ptxas_result *result,
                         wb_error *error) {
  job j;
  *result = (ptxas_result){.instructions = -1};
  if (!make_folder(&j)) {
    return WB_FAIL(error, WB_ERROR_IO, "%s: cannot be made: %s", j.folder, strerror(errno));
  }
  wb_status status =
      write_text(j.ptx, ptx)
          ? assemble(path, &j, sm, result, error)
          : WB_FAIL(error, WB_ERROR_IO, "%s: cannot be written: %s", j.ptx, strerror(errno));
  if (status == WB_OK) {
    result->instructions = count_machine_code(&j);
  }
  end_job(&j);
  return status;
}
