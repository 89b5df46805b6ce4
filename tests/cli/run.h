/* Running the program from tests, and the files around it.
 *
 * WB_PROGRAM names the program, WB_TEST_DATA the folder of recorded days. Every test that writes has
 * a scratch folder of its own. */
#ifndef WB_TESTS_CLI_RUN_H
#define WB_TESTS_CLI_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct run_result {
  int status;      /* exit status; -1: ended by a signal */
  char *out, *err; /* all that was printed */
  size_t out_bytes;
} run_result;

/* RUN("replay", path, "--json"): the program with these arguments. The result is freed by run_free. */
#define RUN(...) run_program((const char *const[]){__VA_ARGS__, NULL}, 0)

/* The same where no file may grow beyond `bytes`: a full disk. */
#define RUN_LIMITED(bytes, ...) run_program((const char *const[]){__VA_ARGS__, NULL}, (bytes))

run_result run_program(const char *const *arguments, long file_bytes);
void run_free(run_result *result);

/* Starts the program and kills it after a while; whether it was killed before it ended. */
bool run_killed(const char *const *arguments, long after_us);

/* Starts the program, sends it a signal as soon as `folder` has so many entries, and
 * returns the signal that ended it, or minus its exit status. */
int run_interrupted(const char *const *arguments, const char *folder, int entries, int number);

/* Expects exit status 2, one line that begins with "warpbook" and all the words (NULL at the end). */
void expect_refused(run_result result, const char *const *words);
#define EXPECT_REFUSED(result, ...) \
  expect_refused((result), (const char *const[]){__VA_ARGS__, NULL})

/* Expects exit status `status` and JSON on stdout; the caller's. Frees the result. */
json_t *expect_json(run_result result, int status);
int64_t number(const json_t *object, const char *name);
const char *text(const json_t *object, const char *name);

/* A folder of recorded data; NULL if it is not there, after saying so. The caller frees it. */
char *data_folder(const char *name);

/* Text made like by printf; the caller's. */
char *format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

/* The one entry of a folder whose name has `part`; the caller's. */
char *find_in(const char *folder, const char *part);

char *read_file(const char *path, size_t *bytes); /* NULL if it cannot be read; ends in 0 */
void write_file(const char *path, const char *content);
bool same_files(const char *left, const char *right);
bool exists(const char *path);
int count_entries(const char *folder);

/* A member of a zip; the caller's. */
char *read_member(const char *archive, const char *part, size_t *bytes);

/* A new folder, and its end with all that is in it. */
char *scratch_make(void);
void scratch_free(char *folder);

#endif
