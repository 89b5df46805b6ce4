/* warpbook devices: what books can run on here. */
#include "common.h"
#include "text.h"

#include "compiler/device.h"

#include <string.h>

enum { KEY_JSON = 0x700 };

static const struct argp_option options[] = {
    {"json", KEY_JSON, NULL, 0, "print the list as JSON", 0}, {0}};

static error_t parse_option(int key, char *argument, struct argp_state *state) {
  (void)argument;
  if (key == KEY_JSON) {
    *(bool *)state->input = true;
    return 0;
  }
  return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .doc = "Lists the devices that --device takes.\v"
           "Exit status: 0, or 2 if something could not be done.",
};

static void print_device(const wb_device_info *info) {
  cli_print_format(stdout, "%-8s %s", info->name, info->description);
  if (info->threads > 0) {
    (void)printf(", %d thread%s", info->threads, info->threads == 1 ? "" : "s");
  }
  (void)putchar('\n');
}

/* Opens a device, shows it, closes it. */
static wb_status show_device(const char *name, bool json, json_t *list, wb_error *error) {
  wb_device *device = NULL;
  WB_TRY(wb_device_open(name, &device, error));
  wb_device_info info;
  wb_device_describe(device, &info);
  if (!json) {
    print_device(&info);
  }
  (void)json_array_append_new(list, json_pack("{s:s,s:s,s:i,s:i,s:i}", "name", info.name,
                                              "description", info.description, "threads",
                                              (int)info.threads, "sm", (int)info.sm,
                                              "multiprocessors", (int)info.multiprocessors));
  wb_device_close(device);
  return WB_OK;
}

/* GPUs are numbered without gaps: the first index that cannot be opened ends the list, and its error
 * says why there are none. */
static void show_gpus(bool json, json_t *list) {
  enum { MOST = 64 };
  for (int i = 0; i < MOST; i++) {
    char name[16];
    wb_error error;
    (void)snprintf(name, sizeof name, "cuda:%d", i);
    if (show_device(name, json, list, &error) != WB_OK) {
      if (i == 0 && !json) {
        cli_print_format(stdout, "%-8s not available: %s", "cuda", error.text);
        (void)putchar('\n');
      }
      return;
    }
  }
}

int cli_devices(int argc, char **argv) {
  bool json = false;
  wb_error error;
  argp_parse(&parser, argc, argv, 0, NULL, &json);
  json_t *list = json_array();
  if (show_device("cpu", json, list, &error) != WB_OK) {
    json_decref(list);
    return cli_fail(&error);
  }
  show_gpus(json, list);
  if (json) {
    return cli_print_json(list);
  }
  json_decref(list);
  return CLI_OK;
}
