/* warpbook devices: what books can run on here. */
#include "common.h"

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

int cli_devices(int argc, char **argv) {
  static const char *const names[] = {"cpu"};
  bool json = false;
  wb_error error;
  argp_parse(&parser, argc, argv, 0, NULL, &json);
  json_t *list = json_array();
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    wb_device *device = NULL;
    if (wb_device_open(names[i], &device, &error) != WB_OK) {
      json_decref(list);
      return cli_fail(&error);
    }
    wb_device_info info;
    wb_device_describe(device, &info);
    if (!json) {
      (void)printf("%-8s %s, %d threads\n", info.name, info.description, info.threads);
    }
    (void)json_array_append_new(list, json_pack("{s:s,s:s,s:i}", "name", info.name, "description",
                                                info.description, "threads", (int)info.threads));
    wb_device_close(device);
  }
  if (json) {
    return cli_print_json(list);
  }
  json_decref(list);
  return CLI_OK;
}
