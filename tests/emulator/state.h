/* The emulated runtime: one per process, as the real one.
 *
 *   state.c         settings, errors, what happens at the start of each call
 *   api_device.c    devices and memory
 *   api_library.c   libraries, kernels, launches
 *   api_stream.c    streams, events, graphs
 *   work.c          what waits in streams, and doing it
 *
 * Work is put in queues. In lazy mode (the default) it is done when something waits for it, so that a
 * program that forgets to wait sees that nothing has happened. */
#ifndef WB_TESTS_EMULATOR_STATE_H
#define WB_TESTS_EMULATOR_STATE_H

#include "tests/emulator/cuda_abi.h"
#include "tests/emulator/emulator.h"
#include "tests/emulator/exec.h"

enum { EMU_DEVICES = 8, EMU_INJECTIONS = 16, EMU_BLOCK_THREADS = 1024 };

/* A failure to be given: the n-th call of a function, or the n-th kernel that is run. */
typedef struct emu_injection {
  char function[48];
  int64_t at, seen;
  cudaError_t error;
} emu_injection;

typedef struct emu_settings {
  emu_rules rules;
  bool lazy;
  int devices, sm, sms, driver, runtime, registers;
  uint64_t memory, shared, shared_sm;
  emu_injection injections[EMU_INJECTIONS];
  int injection_count;
  emu_injection fault_launch;
} emu_settings;

/* ---- libraries and kernels ---- */

/* A module on one device, with what its kernels were counted to do. */
typedef struct emu_instance {
  bool loaded;
  ptx_module module;
  int64_t **issued; /* by kernel, by instruction */
  double **extra;
} emu_instance;

struct CUkern_st {
  cudaLibrary_t library;
  int32_t index; /* in the module */
  char *name;
  bool loaded[EMU_DEVICES];     /* for sure: its needs were asked for, or it ran */
  int max_dynamic[EMU_DEVICES]; /* -1: never set */
};

struct CUlib_st {
  cudaLibrary_t next;
  char *text;
  struct CUkern_st *kernels;
  int32_t kernel_count;
  emu_instance on[EMU_DEVICES];
};

/* Counters by kernel name, kept beyond the library. */
typedef struct emu_tally {
  struct emu_tally *next;
  char *name;
  wb_emulator_counts counts;
} emu_tally;

/* ---- streams ---- */

typedef enum emu_work_kind {
  EMU_KERNEL,
  EMU_COPY_BYTES,
  EMU_FILL,
  EMU_RECORD,
  EMU_WAIT
} emu_work_kind;

typedef struct emu_work {
  struct emu_work *next;
  emu_work_kind kind;
  int device;
  /* kernels */
  cudaKernel_t kernel;
  dim3 grid, block;
  uint32_t dynamic_bytes;
  /* copies and fills */
  void *to;
  const void *from; /* NULL: staged */
  size_t bytes;
  int byte;
  /* events */
  cudaEvent_t event;
  uint64_t stream_id, ticket; /* waits: until that stream has done so much */
  /* parameters of a kernel, or staged bytes */
  size_t data_bytes;
  uint8_t data[];
} emu_work;

struct CUgraph_st {
  cudaGraph_t next;
  emu_work *first, **last;
};

struct CUgraphExec_st {
  cudaGraphExec_t next;
  emu_work *first;
};

struct CUstream_st {
  cudaStream_t next;
  uint64_t id;
  int device;
  bool blocking; /* with respect to the default stream */
  emu_work *first, **last;
  uint64_t queued, done;
  /* capture */
  cudaGraph_t graph;
  bool origin, invalid;
  uint64_t capture_at, joined_at; /* works captured; up to where another stream waited for them */
};

struct CUevent_st {
  cudaEvent_t next;
  bool timing, recorded;
  uint64_t stream_id, ticket;
  double time_ms;
  /* when it was recorded in a capture */
  cudaGraph_t graph;
  cudaStream_t captured_in;
  uint64_t captured_at;
};

typedef struct emu_pinned {
  struct emu_pinned *next;
  uint8_t *memory;
  size_t bytes;
} emu_pinned;

typedef struct emu_device {
  bool open;
  emu_memory memory;
  struct CUstream_st stream; /* the default one */
} emu_device;

typedef struct emu_state {
  bool ready;
  emu_settings settings;
  emu_device devices[EMU_DEVICES];
  cudaError_t sticky; /* of a failure that ended everything */
  char message[1280];
  int64_t launches;
  uint64_t next_stream_id;
  cudaLibrary_t libraries;
  cudaStream_t streams;
  cudaEvent_t events;
  cudaGraph_t graphs;
  cudaGraphExec_t execs;
  emu_pinned *pinned;
  emu_tally *tallies;
} emu_state;

extern emu_state emu;

/* What each thread has for itself. */
typedef struct emu_thread {
  int device; /* the current one */
  cudaError_t last;
} emu_thread;

extern _Thread_local emu_thread emu_mine;

/* ---- state.c ---- */

/* At the start of every call: takes the lock, reads settings, gives the error that is due anyway. */
cudaError_t emu_enter(const char *function);
/* The same for calls that need no device. */
cudaError_t emu_enter_plain(const char *function);
/* At its end: notes the error and gives the lock back. */
cudaError_t emu_leave(cudaError_t error);
/* Sets the message; gives `error`. */
cudaError_t emu_refuse(cudaError_t error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The device's memory, made when it is first needed; NULL with a message if there is none. */
emu_memory *emu_device_memory(int device);
/* Adds to a kernel's counters; false: no memory. */
bool emu_tally_add(const char *kernel, const wb_emulator_counts *counts);
/* Which device an address belongs to; -1: none. */
int emu_device_of(const void *pointer);

#define EMU_ENTER()                                        \
  do {                                                     \
    const cudaError_t entered = emu_enter(__func__);       \
    if (entered != cudaSuccess) return emu_leave(entered); \
  } while (0)

/* ---- api_library.c ---- */
void emu_free_library(cudaLibrary_t library);
bool emu_known_kernel(const void *kernel);
/* The module on a device, read when it is first needed. */
cudaError_t emu_instance_of(cudaLibrary_t library, int device, emu_instance **out);

/* ---- api_stream.c ---- */
void emu_drop_capture(cudaStream_t stream);

/* ---- work.c ---- */
emu_work *emu_new_work(emu_work_kind kind, size_t data_bytes); /* NULL: no memory */
void emu_free_works(emu_work *first);
emu_work *emu_copy_works(const emu_work *first, bool *failed);
/* The stream of a handle (NULL: the default one); NULL for one that is none. */
cudaStream_t emu_stream_of(cudaStream_t handle);
/* Puts work in a stream's queue or its capture; takes ownership. */
cudaError_t emu_queue(cudaStream_t stream, emu_work *work);
/* Does what a stream holds, up to a ticket. */
void emu_run_stream(cudaStream_t stream, uint64_t ticket);
void emu_run_device(int device);
void emu_run_until(uint64_t stream_id, uint64_t ticket);
bool emu_is_done(uint64_t stream_id, uint64_t ticket);
/* For what must not happen while a stream of the device is being captured: then it breaks the capture. */
cudaError_t emu_check_no_capture(int device);
double emu_now_ms(void);

#endif
