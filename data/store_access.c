/* Checked access to what is in an HDF5 file.
 *
 * Attributes and datasets are opened by their exact place; rank, type and extent are checked against
 * what is asked for and against what the file really stores; then HDF5 converts: other widths and
 * byte orders are fine as long as every value fits, and nothing is ever cut or clipped.
 * Keep: nothing is allocated for an extent that claim_fits has not seen; every dataset goes through
 * wb_store_open_dataset, which follows no link out of the file. */
#define _GNU_SOURCE
#include "data/store_access.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* deflate makes no more than 1,032 bytes of one; a file whose datasets claim more than this per
 * stored byte is lying about them. */
enum { MOST_BYTES_PER_STORED = 1100, STORED_SLACK = 4096 };

wb_status wb_store_fail(const char *where, const char *what, wb_error *error) {
  char reason[WB_STORE_REASON_BYTES];
  wb_store_reason(reason);
  return WB_FAIL(error, WB_ERROR_FORMAT, "%s: HDF5 cannot %s: %s", where, what, reason);
}

static const char *class_name(H5T_class_t class) {
  switch (class) {
  case H5T_INTEGER: return "an integer";
  case H5T_FLOAT: return "a float";
  case H5T_STRING: return "a string";
  case H5T_COMPOUND: return "a compound";
  case H5T_ENUM: return "an enumeration";
  case H5T_ARRAY: return "an array";
  case H5T_REFERENCE: return "a reference";
  default: return "another type";
  }
}

/* ---- conversion without loss ---- */

/* HDF5 calls this for a value that does not fit the type it is converted to. */
static H5T_conv_ret_t refuse_loss(H5T_conv_except_t kind, hid_t from, hid_t to, void *value,
                                  void *converted, void *lost) {
  (void)kind, (void)from, (void)to, (void)value, (void)converted;
  *(bool *)lost = true;
  return H5T_CONV_ABORT;
}

/* Reads a whole dataset into `buffer`; a value that does not fit `memory_type` is an error. */
static wb_status read_exactly(hid_t dataset, const char *where, hid_t memory_type, void *buffer,
                              wb_error *error) {
  bool lost = false;
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  if (transfer < 0 || H5Pset_type_conv_cb(transfer, refuse_loss, &lost) < 0) {
    return wb_store_fail(where, "prepare to read it", error);
  }
  wb_status status = WB_OK;
  if (H5Dread(dataset, memory_type, H5S_ALL, H5S_ALL, transfer, buffer) < 0) {
    status = lost ? WB_FAIL(error, WB_ERROR_FORMAT,
                            "%s: expected values that fit %zu bytes, got one that does not", where,
                            H5Tget_size(memory_type))
                  : wb_store_fail(where, "read it", error);
  }
  H5Pclose(transfer);
  return status;
}

/* ---- attributes ---- */

wb_status wb_store_missing_attribute(const char *name, wb_error *error) {
  return WB_FAIL(error, WB_ERROR_FORMAT, "attribute %s: expected one, got none", name);
}

/* Opens a scalar attribute (an array of one element will do); -1 with WB_OK if there is none. */
static wb_status open_attribute(hid_t owner, const char *name, hid_t *attribute, wb_error *error) {
  *attribute = -1;
  const htri_t there = H5Aexists(owner, name);
  if (there == 0) {
    return WB_OK;
  }
  *attribute = there < 0 ? -1 : H5Aopen(owner, name, H5P_DEFAULT);
  const hid_t space = *attribute < 0 ? -1 : H5Aget_space(*attribute);
  if (space < 0) {
    return wb_store_fail(name, "open this attribute", error);
  }
  const hssize_t points = H5Sget_simple_extent_npoints(space);
  H5Sclose(space);
  if (points != 1) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "attribute %s: expected one value, got %lld", name,
                   (long long)points);
  }
  return WB_OK;
}

/* The value of an open integer attribute; a boolean of h5py's is an enumeration of two. */
static wb_status integer_of(hid_t attribute, const char *name, int64_t *value, wb_error *error) {
  const hid_t type = H5Aget_type(attribute);
  const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
  wb_status status = WB_OK;
  if ((class != H5T_INTEGER && class != H5T_ENUM) || H5Tget_size(type) > 8) {
    status = WB_FAIL(error, WB_ERROR_FORMAT,
                     "attribute %s: expected an integer of up to 8 bytes, got %s", name,
                     class_name(class));
  } else {
    const hid_t base = class == H5T_ENUM ? H5Tget_super(type) : H5Tcopy(type);
    const bool big = base >= 0 && H5Tget_sign(base) == H5T_SGN_NONE && H5Tget_size(base) == 8;
    if (base < 0 || H5Aread(attribute, big ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64, value) < 0) {
      status = wb_store_fail(name, "read this attribute", error);
    } else if (big && *value < 0) {
      status = WB_FAIL(error, WB_ERROR_FORMAT, "attribute %s: expected below 2^63, got %" PRIu64,
                       name, (uint64_t)*value);
    }
    if (base >= 0) {
      H5Tclose(base);
    }
  }
  if (type >= 0) {
    H5Tclose(type);
  }
  return status;
}

/* Reads an integer attribute within `low` and `high`; *value is left alone if there is none. */
wb_status wb_store_read_number(hid_t owner, const char *name, int64_t low, int64_t high,
                               int64_t *value, wb_error *error) {
  hid_t attribute;
  int64_t got = 0;
  wb_status status = open_attribute(owner, name, &attribute, error);
  if (status == WB_OK && attribute >= 0) {
    status = integer_of(attribute, name, &got, error);
    if (status == WB_OK && (got < low || got > high)) {
      status = WB_FAIL(error, WB_ERROR_FORMAT,
                       "attribute %s: expected %" PRId64 " to %" PRId64 ", got %" PRId64, name, low,
                       high, got);
    } else if (status == WB_OK) {
      *value = got;
    }
  }
  if (attribute >= 0) {
    H5Aclose(attribute);
  }
  return status;
}

wb_status wb_store_read_real(hid_t owner, const char *name, double *value, wb_error *error) {
  hid_t attribute;
  WB_TRY(open_attribute(owner, name, &attribute, error));
  if (attribute < 0) {
    return wb_store_missing_attribute(name, error);
  }
  const hid_t type = H5Aget_type(attribute);
  const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
  wb_status status = WB_OK;
  if (class != H5T_FLOAT && class != H5T_INTEGER) {
    status = WB_FAIL(error, WB_ERROR_FORMAT, "attribute %s: expected a number, got %s", name,
                     class_name(class));
  } else if (H5Aread(attribute, H5T_NATIVE_DOUBLE, value) < 0) {
    status = wb_store_fail(name, "read this attribute", error);
  }
  if (type >= 0) {
    H5Tclose(type);
  }
  H5Aclose(attribute);
  return status;
}

/* ---- texts of fixed or variable length ---- */

static uint64_t number_at(const unsigned char *bytes, int size) {
  uint64_t number = 0;
  for (int k = size - 1; k >= 0; k--) {
    number = number << 8 | bytes[k];
  }
  return number;
}

/* Whether the objects of one heap follow each other to its end: each has an index, its size at byte
 * 8, 16 bytes of header and its bytes, up to a multiple of 8. Index 0 is free space, whose size
 * counts its header. */
static bool heap_fits(const unsigned char *heap, uint64_t left) {
  enum { HEADER = 16, SIZE_AT = 8 };
  const uint64_t size = left < HEADER ? 0 : number_at(heap + SIZE_AT, 8);
  if (size < HEADER || size > left) {
    return false;
  }
  for (uint64_t at = HEADER; size - at >= HEADER;) {
    const uint64_t index = number_at(heap + at, 2), bytes = number_at(heap + at + SIZE_AT, 8);
    const uint64_t room = size - at;
    if (bytes > room) {
      return false;
    }
    const uint64_t need = index > 0 ? HEADER + (bytes + 7) / 8 * 8 : bytes;
    if (need < HEADER || need > room) {
      return false;
    }
    at += need;
  }
  return true;
}

/* Texts of variable length lie in global heaps, which have no checksum, and HDF5 1.10 runs in circles
 * on a damaged one. So before the first such text is read, all that look like heaps are checked. */
static wb_status check_heaps(wb_store_reader *r, const char *where) {
  const unsigned char *at = r->bytes, *end = r->bytes + r->size;
  while (!r->heaps_fit && (at = memmem(at, (size_t)(end - at), "GCOL\1", 5)) != NULL) {
    if (!heap_fits(at, (uint64_t)(end - at))) {
      return WB_FAIL(r->error, WB_ERROR_FORMAT,
                     "%s: expected texts in a sound heap, got a damaged one at byte %lld", where,
                     (long long)(at - r->bytes));
    }
    at += 5;
  }
  r->heaps_fit = true;
  return WB_OK;
}

/* The length of a text in a field of `room` bytes: up to its first 0, padding blanks taken off. */
static size_t length_in(const char *text, size_t room, H5T_str_t padding) {
  size_t length = strnlen(text, room);
  while (padding == H5T_STR_SPACEPAD && length > 0 && text[length - 1] == ' ') {
    length--;
  }
  return length;
}

/* The memory type for a file's string type: the same, so that nothing is converted. */
static hid_t string_in_memory(hid_t file_type) {
  return H5Tget_class(file_type) == H5T_STRING ? H5Tcopy(file_type) : -1;
}

/* Copies the text of an open attribute to `text`; it has to fit. */
static wb_status text_of(hid_t attribute, hid_t type, const char *name, char *text, size_t room,
                         wb_error *error) {
  const bool variable = H5Tis_variable_str(type) > 0;
  const size_t size = H5Tget_size(type);
  /* attributes are small: their object's header holds at most 64 KiB of them */
  char *value = variable || size > 65536 ? NULL : calloc(1, size + 1), *longer = NULL;
  size_t length = 0;
  wb_status status = WB_OK;
  if (!variable && value == NULL) {
    status = WB_FAIL(error, WB_ERROR_FORMAT, "attribute %s: expected up to %zu bytes, got %zu",
                     name, room - 1, size);
  } else if (H5Aread(attribute, type, variable ? (void *)&longer : value) < 0) {
    status = wb_store_fail(name, "read this attribute", error);
  } else {
    const char *from = variable ? longer : value;
    length = from == NULL ? 0 : length_in(from, variable ? SIZE_MAX : size, H5Tget_strpad(type));
    if (length >= room) {
      status = WB_FAIL(error, WB_ERROR_FORMAT, "attribute %s: expected up to %zu bytes, got %zu",
                       name, room - 1, length);
    } else if (from != NULL) {
      memcpy(text, from, length);
    }
  }
  text[status == WB_OK ? length : 0] = 0;
  free(value);
  if (longer != NULL) {
    H5free_memory(longer);
  }
  return status;
}

/* Reads the text of an open attribute. */
static wb_status load_text(wb_store_reader *r, hid_t attribute, const char *name, char *text,
                           size_t room) {
  const hid_t file_type = H5Aget_type(attribute);
  const hid_t type = file_type < 0 ? -1 : string_in_memory(file_type);
  wb_status status = WB_OK;
  if (type < 0) {
    status = WB_FAIL(r->error, WB_ERROR_FORMAT, "attribute %s: expected a string, got %s", name,
                     class_name(file_type < 0 ? H5T_NO_CLASS : H5Tget_class(file_type)));
  } else if (H5Tis_variable_str(type) > 0) {
    status = check_heaps(r, name);
  }
  if (status == WB_OK) {
    status = text_of(attribute, type, name, text, room, r->error);
  }
  if (type >= 0) {
    H5Tclose(type);
  }
  if (file_type >= 0) {
    H5Tclose(file_type);
  }
  return status;
}

wb_status wb_store_read_text(wb_store_reader *r, const char *name, char *text, size_t room,
                             bool *there) {
  hid_t attribute;
  text[0] = 0;
  const wb_status opened = open_attribute(r->file, name, &attribute, r->error);
  *there = attribute >= 0;
  if (attribute < 0) {
    return opened;
  }
  const wb_status status = opened == WB_OK ? load_text(r, attribute, name, text, room) : opened;
  H5Aclose(attribute);
  return status;
}

/* ---- datasets ---- */

void wb_store_close_dataset(wb_store_dataset *set) {
  if (set->type >= 0) {
    H5Tclose(set->type);
  }
  if (set->id >= 0) {
    H5Dclose(set->id);
  }
}

/* Whether `owner` has something of that name; a link that leads elsewhere is an error. */
wb_status wb_store_is_there(hid_t owner, const char *name, const char *where, bool *there,
                            wb_error *error) {
  const htri_t exists = H5Lexists(owner, name, H5P_DEFAULT);
  H5L_info_t link;
  *there = exists > 0;
  if (exists == 0) {
    return WB_OK;
  }
  if (exists < 0 || H5Lget_info(owner, name, &link, H5P_DEFAULT) < 0) {
    return wb_store_fail(where, "look it up", error);
  }
  if (link.type != H5L_TYPE_HARD) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "%s: expected it in its place, got a link to elsewhere",
                   where);
  }
  return WB_OK;
}

/* The extent, if it is of the right rank. */
static wb_status take_extent(wb_store_dataset *set, int rank, wb_error *error) {
  const hid_t space = H5Dget_space(set->id);
  const H5S_class_t class = space < 0 ? H5S_NO_CLASS : H5Sget_simple_extent_type(space);
  const int got = class == H5S_SIMPLE ? H5Sget_simple_extent_ndims(space) : 0;
  wb_status status = WB_OK;
  if (got != rank) {
    status = WB_FAIL(error, WB_ERROR_FORMAT, "%s: expected %d dimension%s, got %d", set->where,
                     rank, rank == 1 ? "" : "s", got);
  } else if (H5Sget_simple_extent_dims(space, set->dims, NULL) < 0) {
    status = wb_store_fail(set->where, "tell its extent", error);
  }
  if (space >= 0) {
    H5Sclose(space);
  }
  return status;
}

/* Whether all of the dataset is stored in this very file, and enough of it for its extent. */
static wb_status claim_fits(const wb_store_dataset *set, wb_error *error) {
  const hid_t list = H5Dget_create_plist(set->id);
  const H5D_layout_t layout = list < 0 ? H5D_LAYOUT_ERROR : H5Pget_layout(list);
  const bool own = layout != H5D_LAYOUT_ERROR && layout != H5D_VIRTUAL &&
                   (layout != H5D_CONTIGUOUS || H5Pget_external_count(list) == 0);
  if (list >= 0) {
    H5Pclose(list);
  }
  if (!own) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "%s: expected its values in this file, got another's",
                   set->where);
  }
  const uint64_t stored = H5Dget_storage_size(set->id), size = H5Tget_size(set->type);
  uint64_t most = 0, claimed = 0;
  const bool huge = __builtin_mul_overflow(set->dims[0], set->dims[1], &claimed) ||
                    __builtin_mul_overflow(claimed, size, &claimed) || claimed > INT64_MAX / 4;
  const bool bounded = !__builtin_mul_overflow(stored + STORED_SLACK, MOST_BYTES_PER_STORED, &most);
  if (huge || (bounded && claimed > most) || (layout != H5D_CHUNKED && claimed > stored)) {
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "%s: expected %llu x %llu elements of %llu bytes, got %llu bytes in the file",
                   set->where, (unsigned long long)set->dims[0], (unsigned long long)set->dims[1],
                   (unsigned long long)size, (unsigned long long)stored);
  }
  return WB_OK;
}

wb_status wb_store_open_dataset(hid_t owner, const char *group, const char *name, int rank,
                                wb_store_dataset *set, bool *there, wb_error *error) {
  *set = (wb_store_dataset){.id = -1, .type = -1, .dims = {0, 1}};
  snprintf(set->where, sizeof set->where, "dataset %s%s%s", group, group[0] != 0 ? "/" : "", name);
  WB_TRY(wb_store_is_there(owner, name, set->where, there, error));
  if (!*there) {
    return WB_OK;
  }
  set->id = H5Dopen2(owner, name, H5P_DEFAULT);
  set->type = set->id < 0 ? -1 : H5Dget_type(set->id);
  wb_status status = WB_OK;
  if (set->type < 0) {
    status = wb_store_fail(set->where, "open it as a dataset", error);
  }
  if (status == WB_OK) {
    status = take_extent(set, rank, error);
  }
  if (status == WB_OK) {
    status = claim_fits(set, error);
  }
  if (status != WB_OK) {
    wb_store_close_dataset(set);
  }
  return status;
}

wb_status wb_store_missing_dataset(const wb_store_dataset *set, wb_error *error) {
  return WB_FAIL(error, WB_ERROR_FORMAT, "%s: expected one, got none", set->where);
}

wb_status wb_store_check_integer(const char *where, const char *member, hid_t type,
                                 wb_error *error) {
  const H5T_class_t class = H5Tget_class(type);
  if (class != H5T_INTEGER || H5Tget_size(type) > 8) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "%s%s%s: expected an integer of up to 8 bytes, got %s",
                   where, member[0] != 0 ? ": member " : "", member,
                   class == H5T_INTEGER ? "a longer one" : class_name(class));
  }
  return WB_OK;
}

static wb_status check_members(const wb_store_dataset *set, const wb_store_table *table,
                               wb_error *error) {
  const H5T_class_t class = H5Tget_class(set->type);
  if (class != H5T_COMPOUND) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "%s: expected a compound, got %s", set->where,
                   class_name(class));
  }
  for (int k = 0; k < table->member_count; k++) {
    const char *name = table->members[k].name;
    const int index = H5Tget_member_index(set->type, name);
    if (index < 0) {
      return WB_FAIL(error, WB_ERROR_FORMAT, "%s: member %s: expected one, got none", set->where,
                     name);
    }
    const hid_t type = H5Tget_member_type(set->type, (unsigned)index);
    if (type < 0) {
      return wb_store_fail(set->where, "tell a member's type", error);
    }
    const wb_status status = wb_store_check_integer(set->where, name, type, error);
    H5Tclose(type);
    WB_TRY(status);
  }
  return WB_OK;
}

/* Room for `count` elements, which the tape owns; at least one byte. */
wb_status wb_store_make_block(wb_tape *tape, int block, uint64_t count, size_t size,
                              const char *where, wb_error *error) {
  tape->blocks[block] = calloc(count > 0 ? count : 1, size);
  if (tape->blocks[block] == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "%s: no memory for %llu elements of %zu bytes", where,
                   (unsigned long long)count, size);
  }
  return WB_OK;
}

wb_status wb_store_check_count(const wb_store_dataset *set, int64_t last, wb_error *error) {
  if (set->dims[0] > (uint64_t)last) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "%s: expected up to %" PRId64 " elements, got %llu",
                   set->where, last, (unsigned long long)set->dims[0]);
  }
  return WB_OK;
}

/* Fills a block from an open dataset. */
wb_status wb_store_load_block(wb_store_reader *r, const wb_store_dataset *set, int block,
                              hid_t memory_type, size_t size) {
  const uint64_t count = set->dims[0] * set->dims[1];
  WB_TRY(wb_store_make_block(r->tape, block, count, size, set->where, r->error));
  return count == 0
             ? WB_OK
             : read_exactly(set->id, set->where, memory_type, r->tape->blocks[block], r->error);
}

static wb_status load_table(wb_store_reader *r, const wb_store_dataset *set,
                            const wb_store_table *table, int block, int64_t last) {
  WB_TRY(check_members(set, table, r->error));
  WB_TRY(wb_store_check_count(set, last, r->error));
  const hid_t memory_type = wb_store_compound(table, false);
  if (memory_type < 0) {
    return wb_store_fail(set->where, "make its type", r->error);
  }
  const wb_status status = wb_store_load_block(r, set, block, memory_type, table->size);
  H5Tclose(memory_type);
  return status;
}

/* Reads a compound dataset into a block; *count is 0 if there is none. */
wb_status wb_store_read_table(wb_store_reader *r, const wb_store_table *table, int block,
                              int64_t last, bool required, int64_t *count) {
  wb_store_dataset set;
  bool there;
  *count = 0;
  WB_TRY(wb_store_open_dataset(r->file, "", table->name, 1, &set, &there, r->error));
  if (!there) {
    return required ? wb_store_missing_dataset(&set, r->error) : WB_OK;
  }
  const wb_status status = load_table(r, &set, table, block, last);
  *count = (int64_t)set.dims[0];
  wb_store_close_dataset(&set);
  return status;
}

/* ---- lists of texts and numbers ---- */

static wb_status no_memory(const wb_store_dataset *set, wb_error *error) {
  return WB_FAIL(error, WB_ERROR_MEMORY, "%s: no memory for %llu elements", set->where,
                 (unsigned long long)set->dims[0]);
}

static char *keep_text(wb_tape *tape, const char *text, size_t length) {
  char *copy = wb_arena_alloc(&tape->arena, length + 1);
  if (copy != NULL) {
    memcpy(copy, text, length);
  }
  return copy;
}

static wb_status load_fixed(wb_store_reader *r, const wb_store_dataset *set, hid_t type,
                            const char **texts) {
  const size_t size = H5Tget_size(type);
  char *all = calloc(set->dims[0], size);
  if (all == NULL) {
    return no_memory(set, r->error);
  }
  wb_status status = read_exactly(set->id, set->where, type, all, r->error);
  for (hsize_t k = 0; k < set->dims[0] && status == WB_OK; k++) {
    const char *text = all + k * size;
    texts[k] = keep_text(r->tape, text, length_in(text, size, H5Tget_strpad(type)));
    status = texts[k] == NULL ? no_memory(set, r->error) : WB_OK;
  }
  free(all);
  return status;
}

static wb_status load_variable(wb_store_reader *r, const wb_store_dataset *set, hid_t type,
                               const char **texts) {
  char **all = calloc(set->dims[0], sizeof *all);
  if (all == NULL) {
    return no_memory(set, r->error);
  }
  wb_status status = read_exactly(set->id, set->where, type, all, r->error);
  for (hsize_t k = 0; k < set->dims[0] && status == WB_OK; k++) {
    const char *text = all[k] == NULL ? "" : all[k];
    texts[k] = keep_text(r->tape, text, strlen(text));
    status = texts[k] == NULL ? no_memory(set, r->error) : WB_OK;
  }
  for (hsize_t k = 0; k < set->dims[0]; k++) {
    if (all[k] != NULL) {
      H5free_memory(all[k]);
    }
  }
  free(all);
  return status;
}

static wb_status load_texts(wb_store_reader *r, const wb_store_dataset *set, const char ***texts) {
  const hid_t type = string_in_memory(set->type);
  if (type < 0) {
    return WB_FAIL(r->error, WB_ERROR_FORMAT, "%s: expected strings, got %s", set->where,
                   class_name(H5Tget_class(set->type)));
  }
  wb_status status = WB_OK;
  *texts = wb_arena_array(&r->tape->arena, set->dims[0] + 1, sizeof **texts);
  if (*texts == NULL) {
    status = no_memory(set, r->error);
  } else if (set->dims[0] > 0 && H5Tis_variable_str(type) > 0) {
    status = check_heaps(r, set->where);
    status = status == WB_OK ? load_variable(r, set, type, *texts) : status;
  } else if (set->dims[0] > 0) {
    status = load_fixed(r, set, type, *texts);
  }
  H5Tclose(type);
  return status;
}

/* A group's column has `expected` elements; -1: as many as it has, at most `last`. */
static wb_status open_column(wb_store_reader *r, hid_t owner, const char *group, const char *name,
                             int64_t expected, int64_t last, wb_store_dataset *set) {
  bool there;
  WB_TRY(wb_store_open_dataset(owner, group, name, 1, set, &there, r->error));
  if (!there) {
    return wb_store_missing_dataset(set, r->error);
  }
  wb_status status =
      expected >= 0 && set->dims[0] != (uint64_t)expected
          ? WB_FAIL(r->error, WB_ERROR_FORMAT,
                    "%s: expected %" PRId64 " elements like the columns beside it, got %llu",
                    set->where, expected, (unsigned long long)set->dims[0])
          : wb_store_check_count(set, last, r->error);
  if (status != WB_OK) {
    wb_store_close_dataset(set);
  }
  return status;
}

wb_status wb_store_read_texts(wb_store_reader *r, hid_t owner, const char *group, const char *name,
                              int64_t expected, int64_t last, int64_t *count, const char ***texts) {
  wb_store_dataset set;
  WB_TRY(open_column(r, owner, group, name, expected, last, &set));
  const wb_status status = load_texts(r, &set, texts);
  *count = (int64_t)set.dims[0];
  wb_store_close_dataset(&set);
  return status;
}

static wb_status load_numbers(wb_store_reader *r, const wb_store_dataset *set, int64_t **numbers) {
  WB_TRY(wb_store_check_integer(set->where, "", set->type, r->error));
  *numbers = wb_arena_array(&r->tape->arena, set->dims[0] + 1, sizeof **numbers);
  if (*numbers == NULL) {
    return no_memory(set, r->error);
  }
  return set->dims[0] == 0
             ? WB_OK
             : read_exactly(set->id, set->where, H5T_NATIVE_INT64, *numbers, r->error);
}

wb_status wb_store_read_numbers(wb_store_reader *r, hid_t owner, const char *group,
                                const char *name, int64_t expected, int64_t last, int64_t *count,
                                int64_t **numbers) {
  wb_store_dataset set;
  WB_TRY(open_column(r, owner, group, name, expected, last, &set));
  const wb_status status = load_numbers(r, &set, numbers);
  *count = (int64_t)set.dims[0];
  wb_store_close_dataset(&set);
  return status;
}

/* Opens a group and lets `load` read what is in it; nothing happens if there is none. */
wb_status wb_store_read_group(wb_store_reader *r, const char *name,
                              wb_status (*load)(wb_store_reader *r, hid_t group)) {
  char where[80];
  bool there;
  snprintf(where, sizeof where, "group %s", name);
  WB_TRY(wb_store_is_there(r->file, name, where, &there, r->error));
  if (!there) {
    return WB_OK;
  }
  const hid_t group = H5Gopen2(r->file, name, H5P_DEFAULT);
  if (group < 0) {
    return wb_store_fail(where, "open it as a group", r->error);
  }
  const wb_status status = load(r, group);
  H5Gclose(group);
  return status;
}
