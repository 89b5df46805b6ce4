/* The runtime's functions of streams, events and graphs. See state.h.
 *
 * A capture collects works in a graph, in the order of the calls; that order respects every dependence
 * between its streams, so a graph is simply a list. */
#include "tests/emulator/state.h"

#include <stdlib.h>
#include <string.h>

/* ---- streams ---- */

static cudaError_t create_stream(cudaStream_t *out, bool blocking) {
  cudaStream_t stream = out ? calloc(1, sizeof *stream) : NULL;
  if (!out) return emu_refuse(cudaErrorInvalidValue, "no place for the handle");
  if (!stream) return emu_refuse(cudaErrorMemoryAllocation, "no host memory");
  stream->id = emu.next_stream_id++;
  stream->device = emu_mine.device;
  stream->blocking = blocking;
  stream->last = &stream->first;
  stream->next = emu.streams;
  emu.streams = stream;
  *out = stream;
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *out) {
  EMU_ENTER();
  return emu_leave(create_stream(out, true));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned int flags) {
  EMU_ENTER();
  if (flags > cudaStreamNonBlocking) {
    return emu_leave(emu_refuse(cudaErrorInvalidValue, "stream flags %u", flags));
  }
  return emu_leave(create_stream(out, flags != cudaStreamNonBlocking));
}

static cudaError_t no_stream(void) {
  return emu_refuse(cudaErrorInvalidResourceHandle, "no stream");
}

/* takes all streams out of a capture; what kind of end it is */
static cudaError_t end_capture(cudaGraph_t graph) {
  cudaError_t error = cudaSuccess;
  for (cudaStream_t s = emu.streams; s; s = s->next) {
    if (s->graph != graph) continue;
    if (s->invalid) {
      error = emu_refuse(cudaErrorStreamCaptureInvalidated, "the capture has failed before");
    } else if (!s->origin && s->joined_at < s->capture_at && error == cudaSuccess) {
      error = emu_refuse(cudaErrorStreamCaptureUnjoined, "a stream has not been joined back");
    }
    s->graph = NULL;
    s->invalid = false;
  }
  for (cudaEvent_t e = emu.events; e; e = e->next) {
    if (e->graph == graph) e->graph = NULL;
  }
  return error;
}

/* a capture ends with the stream that it began in */
void emu_drop_capture(cudaStream_t stream) {
  cudaGraph_t graph = stream->graph;
  if (!graph || !stream->origin) return;
  end_capture(graph);
  emu_free_works(graph->first);
  free(graph);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const cudaError_t entered = emu_enter(__func__);
  if (entered != cudaSuccess && entered != emu.sticky) return emu_leave(entered);
  for (cudaStream_t *s = &emu.streams; *s; s = &(*s)->next) {
    if (*s != stream) continue;
    emu_drop_capture(stream);
    emu_run_stream(stream, UINT64_MAX);
    *s = stream->next;
    emu_free_works(stream->first);
    free(stream);
    return emu_leave(emu.sticky);
  }
  return emu_leave(no_stream());
}

/* waiting has no meaning in a capture, and breaks it */
static cudaError_t check_waitable(cudaStream_t stream) {
  if (!stream) return no_stream();
  if (!stream->graph) return cudaSuccess;
  stream->invalid = true;
  return emu_refuse(cudaErrorStreamCaptureUnsupported, "waiting for a stream that is captured");
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  EMU_ENTER();
  cudaStream_t stream = emu_stream_of(handle);
  const cudaError_t error = check_waitable(stream);
  if (error == cudaSuccess) emu_run_stream(stream, UINT64_MAX);
  return emu_leave(error == cudaSuccess ? emu.sticky : error);
}

/* each question lets one piece of work be done, so that polling ends */
cudaError_t cudaStreamQuery(cudaStream_t handle) {
  EMU_ENTER();
  cudaStream_t stream = emu_stream_of(handle);
  const cudaError_t error = check_waitable(stream);
  if (error != cudaSuccess) return emu_leave(error);
  if (!stream->first) return emu_leave(emu.sticky);
  emu_run_stream(stream, stream->done + 1);
  return emu_leave(emu.sticky != cudaSuccess ? emu.sticky : cudaErrorNotReady);
}

/* ---- events ---- */

static bool known_event(cudaEvent_t event) {
  for (cudaEvent_t e = emu.events; e; e = e->next) {
    if (e == event) return true;
  }
  return false;
}

static cudaError_t create_event(cudaEvent_t *out, bool timing) {
  cudaEvent_t event = out ? calloc(1, sizeof *event) : NULL;
  if (!out) return emu_refuse(cudaErrorInvalidValue, "no place for the handle");
  if (!event) return emu_refuse(cudaErrorMemoryAllocation, "no host memory");
  event->timing = timing;
  event->next = emu.events;
  emu.events = event;
  *out = event;
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *out) {
  EMU_ENTER();
  return emu_leave(create_event(out, true));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned int flags) {
  EMU_ENTER();
  return emu_leave(create_event(out, !(flags & cudaEventDisableTiming)));
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const cudaError_t entered = emu_enter(__func__);
  if (entered != cudaSuccess && entered != emu.sticky) return emu_leave(entered);
  for (cudaEvent_t *e = &emu.events; *e; e = &(*e)->next) {
    if (*e != event) continue;
    *e = event->next;
    free(event);
    return emu_leave(emu.sticky);
  }
  return emu_leave(emu_refuse(cudaErrorInvalidResourceHandle, "no event"));
}

static cudaError_t record(cudaEvent_t event, cudaStream_t stream) {
  if (!known_event(event) || !stream) {
    return emu_refuse(cudaErrorInvalidResourceHandle, "no event, or no stream");
  }
  event->graph = stream->graph;
  event->captured_in = stream;
  if (stream->graph) {
    if (stream->invalid)
      return emu_refuse(cudaErrorStreamCaptureInvalidated, "the capture has failed");
    event->captured_at = stream->capture_at;
    return cudaSuccess;
  }
  emu_work *work = emu_new_work(EMU_RECORD, 0);
  if (!work) return emu_refuse(cudaErrorMemoryAllocation, "no host memory");
  work->event = event;
  event->recorded = true;
  event->stream_id = stream->id;
  event->ticket = stream->queued + 1;
  return emu_queue(stream, work);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  EMU_ENTER();
  return emu_leave(record(event, emu_stream_of(stream)));
}

static cudaError_t check_event(cudaEvent_t event) {
  if (!known_event(event)) return emu_refuse(cudaErrorInvalidResourceHandle, "no event");
  if (!event->graph) return cudaSuccess;
  return emu_refuse(cudaErrorStreamCaptureUnsupported, "an event that was recorded in a capture");
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  EMU_ENTER();
  const cudaError_t error = check_event(event);
  if (error != cudaSuccess) return emu_leave(error);
  if (!event->recorded || emu_is_done(event->stream_id, event->ticket))
    return emu_leave(emu.sticky);
  for (cudaStream_t s = emu.streams; s; s = s->next) {
    if (s->id == event->stream_id) emu_run_stream(s, s->done + 1);
  }
  if (!emu_is_done(event->stream_id, event->ticket)) {
    cudaStream_t standard = &emu.devices[emu_mine.device].stream;
    if (standard->id == event->stream_id) emu_run_stream(standard, standard->done + 1);
  }
  return emu_leave(emu.sticky != cudaSuccess ? emu.sticky : cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  EMU_ENTER();
  const cudaError_t error = check_event(event);
  if (error != cudaSuccess) return emu_leave(error);
  if (event->recorded) emu_run_until(event->stream_id, event->ticket);
  return emu_leave(emu.sticky);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  EMU_ENTER();
  cudaError_t error = check_event(start);
  if (error == cudaSuccess) error = check_event(end);
  if (error != cudaSuccess) return emu_leave(error);
  if (!milliseconds || !start->timing || !end->timing || !start->recorded || !end->recorded) {
    return emu_leave(emu_refuse(cudaErrorInvalidResourceHandle,
                                "an event without timing or that was never recorded"));
  }
  if (!emu_is_done(start->stream_id, start->ticket) || !emu_is_done(end->stream_id, end->ticket)) {
    return emu_leave(cudaErrorNotReady);
  }
  *milliseconds = (float)(end->time_ms - start->time_ms);
  return emu_leave(cudaSuccess);
}

/* a stream that waits for an event of a capture joins it */
static cudaError_t wait_captured(cudaStream_t stream, cudaEvent_t event) {
  if (stream->graph && stream->graph != event->graph) {
    stream->invalid = true;
    return emu_refuse(cudaErrorStreamCaptureInvalidated, "two captures meet");
  }
  if (!stream->graph) {
    stream->graph = event->graph;
    stream->origin = stream->invalid = false;
    stream->capture_at = 1; /* what it joined with is to be joined back */
    stream->joined_at = 0;
  }
  cudaStream_t other = event->captured_in;
  if (other != stream && emu_stream_of(other) && event->captured_at > other->joined_at) {
    other->joined_at = event->captured_at;
  }
  return cudaSuccess;
}

static cudaError_t wait_event(cudaStream_t stream, cudaEvent_t event) {
  if (!known_event(event) || !stream) {
    return emu_refuse(cudaErrorInvalidResourceHandle, "no event, or no stream");
  }
  if (event->graph) return wait_captured(stream, event);
  if (stream->graph) {
    stream->invalid = true;
    return emu_refuse(cudaErrorStreamCaptureIsolation, "a capture waits for an event from outside");
  }
  if (!event->recorded) return cudaSuccess;
  emu_work *work = emu_new_work(EMU_WAIT, 0);
  if (!work) return emu_refuse(cudaErrorMemoryAllocation, "no host memory");
  work->stream_id = event->stream_id;
  work->ticket = event->ticket;
  return emu_queue(stream, work);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  EMU_ENTER();
  if (flags) return emu_leave(emu_refuse(cudaErrorInvalidValue, "wait flags %u", flags));
  return emu_leave(wait_event(emu_stream_of(stream), event));
}

/* ---- captures ---- */

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, enum cudaStreamCaptureMode mode) {
  EMU_ENTER();
  cudaStream_t stream = emu_stream_of(handle);
  if (!stream) return emu_leave(no_stream());
  if ((unsigned)mode > cudaStreamCaptureModeRelaxed) {
    return emu_leave(emu_refuse(cudaErrorInvalidValue, "capture mode %d", (int)mode));
  }
  if (!handle || stream->graph) {
    return emu_leave(emu_refuse(cudaErrorStreamCaptureUnsupported, "%s",
                                handle ? "the stream is captured already"
                                       : "the default stream cannot be captured"));
  }
  cudaGraph_t graph = calloc(1, sizeof *graph);
  if (!graph) return emu_leave(emu_refuse(cudaErrorMemoryAllocation, "no host memory"));
  graph->last = &graph->first;
  stream->graph = graph;
  stream->origin = true;
  stream->invalid = false;
  stream->capture_at = stream->joined_at = 0;
  return emu_leave(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, enum cudaStreamCaptureStatus *status) {
  EMU_ENTER();
  const cudaStream_t stream = emu_stream_of(handle);
  if (!stream || !status) return emu_leave(no_stream());
  *status = !stream->graph    ? cudaStreamCaptureStatusNone
            : stream->invalid ? cudaStreamCaptureStatusInvalidated
                              : cudaStreamCaptureStatusActive;
  return emu_leave(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *out) {
  const cudaError_t entered = emu_enter(__func__);
  cudaStream_t stream = emu_stream_of(handle);
  if (entered != cudaSuccess) { /* however it ends, the capture is over */
    if (stream) emu_drop_capture(stream);
    return emu_leave(entered);
  }
  if (!stream || !out) return emu_leave(no_stream());
  *out = NULL;
  if (!stream->graph || !stream->origin) {
    return emu_leave(
        emu_refuse(cudaErrorStreamCaptureUnmatched, "no capture began in this stream"));
  }
  cudaGraph_t graph = stream->graph;
  const cudaError_t error = end_capture(graph);
  if (error != cudaSuccess) {
    emu_free_works(graph->first);
    free(graph);
    return emu_leave(error);
  }
  graph->next = emu.graphs;
  emu.graphs = graph;
  *out = graph;
  return emu_leave(cudaSuccess);
}

/* ---- graphs ---- */

static cudaError_t no_graph(void) { return emu_refuse(cudaErrorInvalidResourceHandle, "no graph"); }

static cudaGraph_t *find_graph(cudaGraph_t graph) {
  for (cudaGraph_t *g = &emu.graphs; *g; g = &(*g)->next) {
    if (*g == graph) return g;
  }
  return NULL;
}

static cudaGraphExec_t *find_exec(cudaGraphExec_t exec) {
  for (cudaGraphExec_t *g = &emu.execs; *g; g = &(*g)->next) {
    if (*g == exec) return g;
  }
  return NULL;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph,
                                 unsigned long long flags) {
  EMU_ENTER();
  if (!find_graph(graph) || !out) return emu_leave(no_graph());
  if (flags) return emu_leave(emu_refuse(cudaErrorInvalidValue, "graph flags %llu", flags));
  cudaGraphExec_t exec = calloc(1, sizeof *exec);
  bool failed = !exec;
  if (exec) exec->first = emu_copy_works(graph->first, &failed);
  if (failed) {
    free(exec);
    return emu_leave(emu_refuse(cudaErrorMemoryAllocation, "no host memory"));
  }
  exec->next = emu.execs;
  emu.execs = exec;
  *out = exec;
  return emu_leave(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  EMU_ENTER();
  cudaStream_t stream = emu_stream_of(handle);
  if (!stream) return emu_leave(no_stream());
  if (!find_exec(exec)) return emu_leave(no_graph());
  bool failed;
  emu_work *works = emu_copy_works(exec->first, &failed);
  if (failed) return emu_leave(emu_refuse(cudaErrorMemoryAllocation, "no host memory"));
  cudaError_t error = cudaSuccess;
  while (works) {
    emu_work *next = works->next;
    works->next = NULL;
    if (error == cudaSuccess) {
      error = emu_queue(stream, works);
    } else {
      free(works);
    }
    works = next;
  }
  return emu_leave(error);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const cudaError_t entered = emu_enter(__func__);
  if (entered != cudaSuccess && entered != emu.sticky) return emu_leave(entered);
  cudaGraph_t *found = find_graph(graph);
  if (!found) return emu_leave(no_graph());
  *found = graph->next;
  emu_free_works(graph->first);
  free(graph);
  return emu_leave(emu.sticky);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  const cudaError_t entered = emu_enter(__func__);
  if (entered != cudaSuccess && entered != emu.sticky) return emu_leave(entered);
  cudaGraphExec_t *found = find_exec(exec);
  if (!found) return emu_leave(no_graph());
  *found = exec->next;
  emu_free_works(exec->first);
  free(exec);
  return emu_leave(emu.sticky);
}
