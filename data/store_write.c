/* Writes a tape's HDF5 file.
 *
 * The file is put together in memory (HDF5's core driver without a backing file) and then written
 * as one run of bytes by wb_output: so HDF5 never meets a full disk, and the final name appears by
 * one rename. Compressed, a tape is about a tenth of its size in memory.
 * Keep: everything in the file has a checksum (objects by the version of the file's metadata, chunks
 * by fletcher32) and no time of creation, so that damage is found and equal tapes give equal bytes. */
#include "data/store_schema.h"

#include "data/output.h"
#include "data/tape_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  CHUNK_BYTES = 1 << 20,
  DEFLATE_LEVEL = 1,      /* after the shuffle, higher ones take far longer and save little */
  COMPACT_ATTRIBUTES = 64 /* up to so many attributes stay in their object's header */
};

/* Every failure here is one of memory, since there is no disk behind the file. */
static wb_status fail_hdf5(const char *what, wb_error *error) {
  char reason[WB_STORE_REASON_BYTES];
  wb_store_reason(reason);
  return WB_FAIL(error, WB_ERROR_MEMORY, "HDF5 cannot write %s: %s", what, reason);
}

static wb_status write_attribute(hid_t owner, const char *name, hid_t file_type, hid_t memory_type,
                                 const void *value, wb_error *error) {
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute =
      space < 0 ? -1 : H5Acreate2(owner, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
  wb_status status = WB_OK;
  if (attribute < 0 || H5Awrite(attribute, memory_type, value) < 0) {
    status = fail_hdf5(name, error);
  }
  if (attribute >= 0) {
    H5Aclose(attribute);
  }
  if (space >= 0) {
    H5Sclose(space);
  }
  return status;
}

/* An integer attribute of `size` bytes. */
static wb_status write_number(hid_t owner, const char *name, size_t size, bool is_signed,
                              int64_t value, wb_error *error) {
  return write_attribute(owner, name, wb_store_integer(size, is_signed, true), H5T_NATIVE_INT64,
                         &value, error);
}

/* A string type of fixed length; HDF5 has none of length 0. */
static hid_t text_type(size_t bytes) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  if (type >= 0 &&
      (H5Tset_size(type, bytes > 0 ? bytes : 1) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0 ||
       H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)) {
    H5Tclose(type);
    return -1;
  }
  return type;
}

static wb_status write_text(hid_t owner, const char *name, const char *text, wb_error *error) {
  const hid_t type = text_type(strlen(text));
  if (type < 0) {
    return fail_hdf5(name, error);
  }
  const wb_status status = write_attribute(owner, name, type, type, text, error);
  H5Tclose(type);
  return status;
}

/* How a dataset of dims[0] elements or rows of `row_bytes` is laid out: in chunks of about a
 * megabyte along its first dimension. One without elements has no chunks. */
static hid_t dataset_layout(int rank, const hsize_t *dims, size_t row_bytes) {
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  if (list < 0) {
    return -1;
  }
  bool fine = H5Pset_obj_track_times(list, false) >= 0;
  if (dims[0] > 0 && row_bytes > 0) {
    hsize_t chunk[2] = {CHUNK_BYTES / row_bytes, rank == 2 ? dims[1] : 0};
    chunk[0] = chunk[0] < 1 ? 1 : chunk[0] > dims[0] ? dims[0] : chunk[0];
    fine = fine && H5Pset_chunk(list, rank, chunk) >= 0 && H5Pset_shuffle(list) >= 0 &&
           H5Pset_deflate(list, DEFLATE_LEVEL) >= 0 && H5Pset_fletcher32(list) >= 0 &&
           H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0;
  }
  if (!fine) {
    H5Pclose(list);
    return -1;
  }
  return list;
}

static wb_status write_dataset(hid_t owner, const char *name, hid_t file_type, hid_t memory_type,
                               int rank, const hsize_t *dims, const void *data, wb_error *error) {
  const size_t row_bytes = H5Tget_size(file_type) * (size_t)(rank == 2 ? dims[1] : 1);
  const hid_t layout = dataset_layout(rank, dims, row_bytes);
  const hid_t space = H5Screate_simple(rank, dims, NULL);
  hid_t dataset = -1;
  if (layout >= 0 && space >= 0) {
    dataset = H5Dcreate2(owner, name, file_type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
  }
  wb_status status = WB_OK;
  if (dataset < 0 ||
      (dims[0] > 0 && H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)) {
    status = fail_hdf5(name, error);
  }
  if (dataset >= 0 && H5Dclose(dataset) < 0 && status == WB_OK) {
    status = fail_hdf5(name, error);
  }
  if (space >= 0) {
    H5Sclose(space);
  }
  if (layout >= 0) {
    H5Pclose(layout);
  }
  return status;
}

static wb_status write_numbers(hid_t owner, const char *name, size_t size, int64_t count,
                               int64_t width, const void *data, wb_error *error) {
  const hsize_t dims[2] = {(hsize_t)count, (hsize_t)width};
  return write_dataset(owner, name, wb_store_integer(size, true, true),
                       wb_store_integer(size, true, false), width > 0 ? 2 : 1, dims, data, error);
}

static wb_status write_table(hid_t file, const wb_store_table *table, int64_t count,
                             const void *data, wb_error *error) {
  const hid_t file_type = wb_store_compound(table, true);
  const hid_t memory_type = wb_store_compound(table, false);
  const hsize_t dims[1] = {(hsize_t)count};
  const wb_status status =
      file_type < 0 || memory_type < 0
          ? fail_hdf5(table->name, error)
          : write_dataset(file, table->name, file_type, memory_type, 1, dims, data, error);
  if (file_type >= 0) {
    H5Tclose(file_type);
  }
  if (memory_type >= 0) {
    H5Tclose(memory_type);
  }
  return status;
}

/* The text of element `index` of some list. */
typedef const char *text_at(const wb_tape *tape, int64_t index);

/* Texts as a dataset of strings that are all as long as the longest. */
static wb_status write_texts(hid_t owner, const char *name, const wb_tape *tape, text_at *text,
                             int64_t count, wb_error *error) {
  size_t longest = 1;
  for (int64_t k = 0; k < count; k++) {
    const size_t length = strlen(text(tape, k));
    longest = length > longest ? length : longest;
  }
  char *all = calloc((size_t)count + 1, longest);
  if (all == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "%s: no memory for %lld texts of %zu bytes", name,
                   (long long)count, longest);
  }
  for (int64_t k = 0; k < count; k++) {
    memcpy(all + (size_t)k * longest, text(tape, k), strlen(text(tape, k)));
  }
  const hid_t type = text_type(longest);
  const hsize_t dims[1] = {(hsize_t)count};
  const wb_status status = type < 0 ? fail_hdf5(name, error)
                                    : write_dataset(owner, name, type, type, 1, dims, all, error);
  if (type >= 0) {
    H5Tclose(type);
  }
  free(all);
  return status;
}

/* Makes the group, lets `fill` write what is in it, closes it. */
static wb_status write_group(hid_t file, const char *name,
                             wb_status (*fill)(hid_t group, const wb_tape *tape, wb_error *error),
                             const wb_tape *tape, wb_error *error) {
  const hid_t list = H5Pcreate(H5P_GROUP_CREATE);
  hid_t group = -1;
  if (list >= 0 && H5Pset_obj_track_times(list, false) >= 0 &&
      H5Pset_attr_phase_change(list, COMPACT_ATTRIBUTES, COMPACT_ATTRIBUTES / 2) >= 0) {
    group = H5Gcreate2(file, name, H5P_DEFAULT, list, H5P_DEFAULT);
  }
  const wb_status status = group < 0 ? fail_hdf5(name, error) : fill(group, tape, error);
  if (group >= 0) {
    H5Gclose(group);
  }
  if (list >= 0) {
    H5Pclose(list);
  }
  return status;
}

/* ---- the parts of a tape ---- */

static wb_status write_header(hid_t file, const wb_tape *tape, wb_error *error) {
  WB_TRY(write_text(file, "format", WB_STORE_FORMAT, error));
  WB_TRY(write_number(file, "version", 4, true, WB_STORE_VERSION, error));
  WB_TRY(write_text(file, "writer", "warpbook " WB_VERSION, error));
  WB_TRY(write_text(file, "instrument", tape->instrument, error));
  WB_TRY(write_text(file, "day", tape->day, error));
  WB_TRY(write_attribute(file, "price_unit", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &tape->price_unit,
                         error));
  WB_TRY(write_number(file, "base", 8, true, tape->base, error));
  WB_TRY(write_number(file, "tick_size", 4, true, tape->tick_size, error));
  WB_TRY(write_number(file, "levels", 4, true, tape->levels, error));
  WB_TRY(write_number(file, "start_ns", 8, true, tape->start_ns, error));
  WB_TRY(write_number(file, "end_ns", 8, true, tape->end_ns, error));
  WB_TRY(write_number(file, "unique_refs", 1, false, tape->unique_refs, error));
  return write_number(file, "depth_unknown", 1, false, tape->depth_unknown, error);
}

static const char *participant_at(const wb_tape *tape, int64_t index) {
  return tape->participants[index];
}

static wb_status write_rows(hid_t file, const wb_tape *tape, wb_error *error) {
  if (tape->row_count == 0) {
    return WB_OK;
  }
  WB_TRY(write_table(file, &wb_store_rows, tape->row_count, tape->rows, error));
  if (tape->participant_count > 0) {
    WB_TRY(write_texts(file, "participants", tape, participant_at, tape->participant_count, error));
  }
  if (tape->levels == 0) {
    return WB_OK;
  }
  const int64_t width = 2 * (int64_t)tape->levels;
  WB_TRY(write_numbers(file, "book_price", 4, tape->row_count, width, tape->book_price, error));
  return write_numbers(file, "book_qty", 8, tape->row_count, width, tape->book_qty, error);
}

/* One i64 of each element of some list. */
typedef int64_t number_at(const wb_tape *tape, int64_t index);

static wb_status write_column(hid_t group, const char *name, const wb_tape *tape, number_at *number,
                              int64_t count, wb_error *error) {
  int64_t *values = malloc(((size_t)count + 1) * sizeof *values);
  if (values == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "%s: no memory for %lld numbers", name,
                   (long long)count);
  }
  for (int64_t k = 0; k < count; k++) {
    values[k] = number(tape, k);
  }
  const wb_status status = write_numbers(group, name, 8, count, 0, values, error);
  free(values);
  return status;
}

static const char *odd_text_at(const wb_tape *tape, int64_t k) { return tape->odd_times[k].text; }
static int64_t odd_row_at(const wb_tape *tape, int64_t k) { return tape->odd_times[k].row; }

static wb_status fill_odd_times(hid_t group, const wb_tape *tape, wb_error *error) {
  WB_TRY(write_column(group, "row", tape, odd_row_at, tape->odd_time_count, error));
  return write_texts(group, "text", tape, odd_text_at, tape->odd_time_count, error);
}

static const char *source_name_at(const wb_tape *tape, int64_t k) { return tape->sources[k].name; }
static int64_t source_bytes_at(const wb_tape *tape, int64_t k) { return tape->sources[k].bytes; }

static wb_status fill_sources(hid_t group, const wb_tape *tape, wb_error *error) {
  const int64_t count = tape->source_count;
  WB_TRY(write_texts(group, "name", tape, source_name_at, count, error));
  WB_TRY(write_column(group, "bytes", tape, source_bytes_at, count, error));
  /* 32 hexadecimal digits each; the last one's final 0 is the byte too many */
  char *hashes = malloc((size_t)count * 32 + 1);
  if (hashes == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "sources: no memory for %lld hashes", (long long)count);
  }
  for (int64_t k = 0; k < count; k++) {
    wb_hash128_text(tape->sources[k].hash, hashes + k * 32);
  }
  const hid_t type = text_type(32);
  const hsize_t dims[1] = {(hsize_t)count};
  const wb_status status = type < 0
                               ? fail_hdf5("hash", error)
                               : write_dataset(group, "hash", type, type, 1, dims, hashes, error);
  if (type >= 0) {
    H5Tclose(type);
  }
  free(hashes);
  return status;
}

static const char *finding_text_at(const wb_tape *tape, int64_t k) {
  return tape->findings[k].text;
}
static int64_t finding_row_at(const wb_tape *tape, int64_t k) { return tape->findings[k].row; }
static int64_t finding_kind_at(const wb_tape *tape, int64_t k) {
  return (int64_t)tape->findings[k].kind;
}

static wb_status fill_findings(hid_t group, const wb_tape *tape, wb_error *error) {
  WB_TRY(write_column(group, "kind", tape, finding_kind_at, tape->finding_count, error));
  WB_TRY(write_column(group, "row", tape, finding_row_at, tape->finding_count, error));
  return write_texts(group, "text", tape, finding_text_at, tape->finding_count, error);
}

static wb_status fill_counts(hid_t group, const wb_tape *tape, wb_error *error) {
#define X(name, meaning) WB_TRY(write_number(group, #name, 8, true, tape->counts.name, error));
  WB_READER_COUNTS(X)
#undef X
  return WB_OK;
}

/* Parts that have nothing in them are left out, but for the records and the counts. */
static wb_status write_parts(hid_t file, const wb_tape *tape, wb_error *error) {
  WB_TRY(write_header(file, tape, error));
  WB_TRY(write_table(file, &wb_store_records, tape->record_count, tape->records, error));
  if (tape->ref_count > 0) {
    WB_TRY(write_numbers(file, "ids", 8, tape->ref_count, 0, tape->ids, error));
  }
  if (tape->seed_count > 0) {
    WB_TRY(write_table(file, &wb_store_seed, tape->seed_count, tape->seed, error));
  }
  WB_TRY(write_rows(file, tape, error));
  if (tape->odd_time_count > 0) {
    WB_TRY(write_group(file, "odd_times", fill_odd_times, tape, error));
  }
  if (tape->source_count > 0) {
    WB_TRY(write_group(file, "sources", fill_sources, tape, error));
  }
  if (tape->finding_count > 0) {
    WB_TRY(write_group(file, "findings", fill_findings, tape, error));
  }
  return write_group(file, "counts", fill_counts, tape, error);
}

/* ---- the file ---- */

/* The file's bytes, which HDF5 makes longer as it needs and leaves to us when the file is closed:
 * only then is its superblock as it should stand on a disk. */
typedef struct memory_file {
  unsigned char *bytes; /* NULL while HDF5 has them */
  size_t size;
} memory_file;

static void *grow_bytes(void *old, size_t size, H5FD_file_image_op_t operation, void *context) {
  (void)operation;
  void *bytes = realloc(old, size);
  if (bytes != NULL) {
    ((memory_file *)context)->size = size;
  }
  return bytes;
}

static herr_t take_bytes(void *bytes, H5FD_file_image_op_t operation, void *context) {
  if (operation == H5FD_FILE_IMAGE_OP_FILE_CLOSE) {
    ((memory_file *)context)->bytes = bytes;
  } else {
    free(bytes);
  }
  return 0;
}

static void *same_context(void *context) { return context; }

static herr_t keep_context(void *context) {
  (void)context;
  return 0;
}

/* By how much the file grows when it is full: a fraction of what the tape takes in memory. */
static size_t growth(const wb_tape *tape) {
  enum { SMALLEST = 1 << 16, LARGEST = 1 << 24 };
  const int64_t bytes = tape->record_count * 32 + tape->ref_count * 8 +
                        tape->row_count * (32 + 24 * (int64_t)tape->levels);
  return bytes / 16 < SMALLEST ? SMALLEST : bytes / 16 > LARGEST ? LARGEST : (size_t)(bytes / 16);
}

/* A new file in memory. Its name only has to differ from that of any other one open. */
static hid_t create_in_memory(memory_file *memory, size_t step) {
  char name[64];
  snprintf(name, sizeof name, "warpbook-tape-%p", (void *)memory);
  H5FD_file_image_callbacks_t callbacks = {.image_realloc = grow_bytes,
                                           .image_free = take_bytes,
                                           .udata_copy = same_context,
                                           .udata_free = keep_context,
                                           .udata = memory};
  const hid_t access = wb_store_in_memory(step);
  const hid_t list = H5Pcreate(H5P_FILE_CREATE);
  hid_t file = -1;
  if (access >= 0 && list >= 0 && H5Pset_file_image_callbacks(access, &callbacks) >= 0 &&
      H5Pset_obj_track_times(list, false) >= 0 &&
      H5Pset_attr_phase_change(list, COMPACT_ATTRIBUTES, COMPACT_ATTRIBUTES / 2) >= 0) {
    file = H5Fcreate(name, H5F_ACC_TRUNC, list, access);
  }
  if (list >= 0) {
    H5Pclose(list);
  }
  if (access >= 0) {
    H5Pclose(access);
  }
  return file;
}

/* Where a closed file ends: its superblock (version 2 and 3) tells at byte 28, little endian. What
 * comes behind it is memory that HDF5 asked for in advance. */
static bool end_of_file(const memory_file *memory, size_t *size) {
  enum { VERSION_AT = 8, END_AT = 28 };
  uint64_t end = 0;
  if (memory->bytes == NULL || memory->size < END_AT + 8 || memory->bytes[VERSION_AT] < 2) {
    return false;
  }
  for (int k = 7; k >= 0; k--) {
    end = end << 8 | memory->bytes[END_AT + k];
  }
  *size = (size_t)end;
  return end >= END_AT + 8 && end <= memory->size;
}

wb_status wb_store_write_image(const wb_tape *tape, void **bytes, size_t *size, wb_error *error) {
  *bytes = NULL;
  *size = 0;
  WB_TRY(wb_tape_check(tape, error));
  wb_store_quiet quiet;
  wb_store_quiet_begin(&quiet);
  memory_file memory = {NULL, 0};
  const hid_t file = create_in_memory(&memory, growth(tape));
  wb_status status = file < 0 ? fail_hdf5("the file", error) : write_parts(file, tape, error);
  if (file >= 0 && H5Fclose(file) < 0 && status == WB_OK) {
    status = fail_hdf5("the file", error);
  }
  if (status == WB_OK && !end_of_file(&memory, size)) {
    status = WB_FAIL(error, WB_ERROR_INTERNAL, "HDF5 left a file without an end");
  }
  if (status == WB_OK) {
    *bytes = memory.bytes;
  } else {
    free(memory.bytes);
  }
  wb_store_quiet_end(&quiet);
  return status;
}

wb_status wb_store_write_output(const wb_tape *tape, wb_output *output, wb_error *error) {
  void *bytes = NULL;
  size_t size = 0;
  wb_status status = wb_store_write_image(tape, &bytes, &size, error);
  if (status != WB_OK) {
    wb_error_prefix(error, "%s", wb_output_path(output));
    return status;
  }
  status = wb_output_write(output, bytes, size, error);
  free(bytes);
  return status;
}

wb_status wb_store_write(const wb_tape *tape, const char *path, wb_error *error) {
  wb_output *output = NULL;
  WB_TRY(wb_output_open(path, &output, error));
  const wb_status status = wb_store_write_output(tape, output, error);
  if (status != WB_OK) {
    wb_output_discard(output);
    return status;
  }
  return wb_output_close(output, error);
}
