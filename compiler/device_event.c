/* Events: a device's own, or, where work is done when a call returns, the time of the clock. */
#include "compiler/device_backend.h"

#include <stdlib.h>
#include <time.h>

struct wb_event {
  wb_device *device;
  void *native;
  bool recorded;
  double seconds;
};

wb_status wb_event_new(wb_device *device, wb_event **out, wb_error *error) {
  *out = NULL;
  wb_event *event = calloc(1, sizeof *event);
  if (event == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "device %s: no memory for an event", device->name);
  }
  event->device = device;
  wb_status status = WB_OK;
  if (device->backend->event_new != NULL) {
    status = device->backend->event_new(device, &event->native, error);
  }
  if (status != WB_OK) {
    free(event);
    return status;
  }
  *out = event;
  return WB_OK;
}

wb_status wb_event_record(wb_event *event, wb_error *error) {
  wb_device *device = event->device;
  if (device->capturing) {
    return WB_FAIL(error, WB_ERROR_STATE, "device %s: events: not while a graph is captured",
                   device->name);
  }
  event->recorded = true;
  if (event->native != NULL) return device->backend->event_record(device, event->native, error);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  event->seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  return WB_OK;
}

wb_status wb_event_seconds(wb_event *start, wb_event *end, double *seconds, wb_error *error) {
  if (start->device != end->device || !start->recorded || !end->recorded) {
    return WB_FAIL(error, WB_ERROR_STATE,
                   "device %s: events: expected two that were recorded on one device",
                   start->device->name);
  }
  if (start->native == NULL) {
    *seconds = end->seconds - start->seconds;
    return WB_OK;
  }
  return start->device->backend->event_seconds(start->device, start->native, end->native, seconds,
                                               error);
}

void wb_event_free(wb_event *event) {
  if (event == NULL) return;
  if (event->native != NULL) event->device->backend->event_free(event->device, event->native);
  free(event);
}
