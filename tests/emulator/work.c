/* What waits in streams, and doing it. See state.h. */
#include "tests/emulator/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double emu_now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* ---- pieces of work ---- */

emu_work *emu_new_work(emu_work_kind kind, size_t data_bytes) {
  emu_work *work = calloc(1, sizeof *work + data_bytes);
  if (work) {
    work->kind = kind;
    work->device = emu_mine.device;
    work->data_bytes = data_bytes;
  }
  return work;
}

void emu_free_works(emu_work *first) {
  while (first) {
    emu_work *next = first->next;
    free(first);
    first = next;
  }
}

emu_work *emu_copy_works(const emu_work *first, bool *failed) {
  emu_work *copies = NULL, **last = &copies;
  *failed = false;
  for (; first; first = first->next) {
    emu_work *work = malloc(sizeof *work + first->data_bytes);
    if (!work) {
      *failed = true;
      emu_free_works(copies);
      return NULL;
    }
    memcpy(work, first, sizeof *work + first->data_bytes);
    work->next = NULL;
    *last = work;
    last = &work->next;
  }
  return copies;
}

/* ---- doing it ---- */

/* a failure of work that was queued ends everything, as it does on a GPU */
static void fail_all(cudaError_t error) {
  if (emu.sticky == cudaSuccess) emu.sticky = error;
}

static bool add_machine_counts(emu_instance *on, int32_t index, const emu_machine *m) {
  const ptx_kernel *kernel = m->kernel;
  if (m->rules.by_lanes) return true;
  for (int32_t k = 0; k < kernel->count; k++) {
    on->issued[index][k] += m->issued[k];
    on->extra[index][k] += m->extra[k];
  }
  return emu_tally_add(kernel->name, &m->counts);
}

static cudaError_t launch_fault(void) {
  emu_injection *fault = &emu.settings.fault_launch;
  emu.launches++;
  if (fault->at == 0 || ++fault->seen != fault->at) return cudaSuccess;
  return emu_refuse(fault->error, "launch %lld ends with error %d by request",
                    (long long)emu.launches, (int)fault->error);
}

/* numbers of stretches must not run out while records hold them */
static void renew_numbers(emu_memory *memory) {
  if (memory->next_id < UINT32_C(3) << 30) return;
  emu_memory_forget(memory);
}

static cudaError_t run_kernel(const emu_work *work) {
  cudaError_t error = launch_fault();
  if (error != cudaSuccess) return error;
  emu_instance *on;
  error = emu_instance_of(work->kernel->library, work->device, &on);
  if (error != cudaSuccess) return error;
  const ptx_kernel *kernel = &on->module.kernels[work->kernel->index];
  emu_machine *m = calloc(1, sizeof *m);
  if (m) {
    m->issued = calloc((size_t)kernel->count, sizeof *m->issued);
    m->extra = calloc((size_t)kernel->count, sizeof *m->extra);
  }
  if (!m || !m->issued || !m->extra) {
    error = emu_refuse(cudaErrorMemoryAllocation, "no host memory for a launch");
  } else {
    m->module = &on->module;
    m->kernel = kernel;
    m->memory = emu_device_memory(work->device);
    m->rules = emu.settings.rules;
    m->rules.divergence = m->rules.divergence || on->module.divergence;
    m->params = work->data;
    m->grid = work->grid;
    m->block = work->block;
    m->dynamic_bytes = work->dynamic_bytes;
    m->shared_bytes = kernel->shared_extent + work->dynamic_bytes;
    renew_numbers(m->memory);
    if (!emu_run(m)) error = emu_refuse(m->error, "%s", m->message);
    if (!add_machine_counts(on, work->kernel->index, m) && error == cudaSuccess) {
      error = emu_refuse(cudaErrorMemoryAllocation, "no host memory for counters");
    }
  }
  if (m) {
    free(m->issued);
    free(m->extra);
  }
  free(m);
  return error;
}

/* whether the bytes at a pointer may be used: on the host anything, on a device one allocation */
static cudaError_t view(const void *pointer, size_t bytes, uint8_t **data, uint8_t **state) {
  const int device = emu_device_of(pointer);
  *state = NULL;
  if (device < 0) {
    *data = (uint8_t *)(uintptr_t)pointer;
    return cudaSuccess;
  }
  const emu_memory *memory = &emu.devices[device].memory;
  const uint64_t address = (uint64_t)(uintptr_t)pointer;
  if (!emu_holds(memory, address, bytes)) {
    return emu_refuse(cudaErrorInvalidValue, "%zu bytes at %p are not all in one allocation", bytes,
                      pointer);
  }
  *data = emu_data_at(memory, address);
  *state = emu_marks_at(memory, address);
  return cudaSuccess;
}

static cudaError_t run_copy(const emu_work *work) {
  uint8_t *to = NULL, *to_state = NULL, *from = NULL, *from_state = NULL;
  cudaError_t error = view(work->to, work->bytes, &to, &to_state);
  if (error == cudaSuccess && work->from) error = view(work->from, work->bytes, &from, &from_state);
  if (error != cudaSuccess) return error;
  memmove(to, work->from ? from : work->data, work->bytes);
  if (to_state && from_state) {
    for (size_t k = 0; k < work->bytes; k++) {
      to_state[k] = (uint8_t)((to_state[k] & ~EMU_WRITTEN) | (from_state[k] & EMU_WRITTEN));
    }
  } else if (to_state) {
    for (size_t k = 0; k < work->bytes; k++) to_state[k] |= EMU_WRITTEN;
  }
  return cudaSuccess;
}

static cudaError_t run_fill(const emu_work *work) {
  uint8_t *to = NULL, *state = NULL;
  const cudaError_t error = view(work->to, work->bytes, &to, &state);
  if (error != cudaSuccess) return error;
  memset(to, work->byte, work->bytes);
  for (size_t k = 0; k < work->bytes; k++) state[k] |= EMU_WRITTEN;
  return cudaSuccess;
}

static bool known_event(cudaEvent_t event) {
  for (cudaEvent_t e = emu.events; e; e = e->next) {
    if (e == event) return true;
  }
  return false;
}

static void run_work(const emu_work *work) {
  cudaError_t error = cudaSuccess;
  switch (work->kind) {
  case EMU_KERNEL: error = run_kernel(work); break;
  case EMU_COPY_BYTES: error = run_copy(work); break;
  case EMU_FILL: error = run_fill(work); break;
  case EMU_RECORD:
    if (known_event(work->event)) work->event->time_ms = emu_now_ms();
    break;
  case EMU_WAIT: emu_run_until(work->stream_id, work->ticket); break;
  }
  if (error != cudaSuccess) fail_all(error);
}

/* ---- streams ---- */

cudaStream_t emu_stream_of(cudaStream_t handle) {
  if (!handle || handle == (cudaStream_t)(uintptr_t)1) { /* the legacy default stream by its name */
    cudaStream_t s = &emu.devices[emu_mine.device].stream;
    if (!s->id) {
      *s = (struct CUstream_st){
          .id = emu.next_stream_id++, .device = emu_mine.device, .blocking = true};
      s->last = &s->first;
    }
    return s;
  }
  for (cudaStream_t s = emu.streams; s; s = s->next) {
    if (s == handle) return s;
  }
  return NULL;
}

void emu_run_stream(cudaStream_t stream, uint64_t ticket) {
  while (stream->first && stream->done < ticket) {
    emu_work *work = stream->first;
    stream->first = work->next;
    if (!stream->first) stream->last = &stream->first;
    stream->done++;
    if (emu.sticky == cudaSuccess) run_work(work);
    free(work);
  }
}

static cudaStream_t stream_by_id(uint64_t id) {
  for (int k = 0; k < EMU_DEVICES; k++) {
    if (emu.devices[k].stream.id == id) return &emu.devices[k].stream;
  }
  for (cudaStream_t s = emu.streams; s; s = s->next) {
    if (s->id == id) return s;
  }
  return NULL;
}

void emu_run_until(uint64_t stream_id, uint64_t ticket) {
  cudaStream_t stream = stream_by_id(stream_id);
  if (stream) emu_run_stream(stream, ticket);
}

bool emu_is_done(uint64_t stream_id, uint64_t ticket) {
  const cudaStream_t stream = stream_by_id(stream_id);
  return !stream || stream->done >= ticket;
}

void emu_run_device(int device) {
  if (emu.devices[device].stream.id) emu_run_stream(&emu.devices[device].stream, UINT64_MAX);
  for (cudaStream_t s = emu.streams; s; s = s->next) {
    if (s->device == device) emu_run_stream(s, UINT64_MAX);
  }
}

cudaError_t emu_check_no_capture(int device) {
  bool capturing = false;
  for (cudaStream_t s = emu.streams; s; s = s->next) {
    if (s->device != device || !s->graph) continue;
    s->invalid = capturing = true;
  }
  return capturing ? emu_refuse(cudaErrorStreamCaptureUnsupported, "a stream is being captured")
                   : cudaSuccess;
}

/* the default stream and those that respect it wait for each other */
static void order_with_default(cudaStream_t stream) {
  cudaStream_t standard = &emu.devices[stream->device].stream;
  if (!stream->blocking) return;
  if (stream != standard) {
    if (standard->id) emu_run_stream(standard, UINT64_MAX);
    return;
  }
  for (cudaStream_t s = emu.streams; s; s = s->next) {
    if (s->device == stream->device && s->blocking && !s->graph) emu_run_stream(s, UINT64_MAX);
  }
}

cudaError_t emu_queue(cudaStream_t stream, emu_work *work) {
  work->device = stream->device;
  if (stream->graph) {
    if (stream->invalid) {
      free(work);
      return emu_refuse(cudaErrorStreamCaptureInvalidated, "the capture has failed before");
    }
    *stream->graph->last = work;
    stream->graph->last = &work->next;
    stream->capture_at++;
    return cudaSuccess;
  }
  order_with_default(stream);
  *stream->last = work;
  stream->last = &work->next;
  stream->queued++;
  if (!emu.settings.lazy) emu_run_stream(stream, UINT64_MAX);
  return cudaSuccess;
}
