/* The compound types of a tape's file, from one table each, and HDF5's manners. */
#include "data/store_schema.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNED(type, field) \
  { #field, offsetof(type, field), sizeof((type){0}.field), true }
#define UNSIGNED(type, field) \
  { #field, offsetof(type, field), sizeof((type){0}.field), false }

const wb_store_table wb_store_records = {
    "records",
    sizeof(wb_record),
    9,
    {SIGNED(wb_record, time_ns), SIGNED(wb_record, ref), SIGNED(wb_record, price),
     SIGNED(wb_record, qty), SIGNED(wb_record, arg), SIGNED(wb_record, row),
     SIGNED(wb_record, owner), UNSIGNED(wb_record, type), UNSIGNED(wb_record, flags)}};

const wb_store_table wb_store_seed = {"seed",
                                      sizeof(wb_order),
                                      6,
                                      {SIGNED(wb_order, ref), SIGNED(wb_order, price),
                                       SIGNED(wb_order, qty), SIGNED(wb_order, arrival),
                                       SIGNED(wb_order, owner), UNSIGNED(wb_order, side)}};

const wb_store_table wb_store_rows = {
    "rows",
    sizeof(wb_source_row),
    7,
    {SIGNED(wb_source_row, time_ns), SIGNED(wb_source_row, id), SIGNED(wb_source_row, price),
     SIGNED(wb_source_row, size), UNSIGNED(wb_source_row, type), SIGNED(wb_source_row, direction),
     UNSIGNED(wb_source_row, participant)}};

hid_t wb_store_integer(size_t size, bool is_signed, bool in_file) {
  switch (size) {
  case 1:
    return in_file ? (is_signed ? H5T_STD_I8LE : H5T_STD_U8LE)
                   : (is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8);
  case 2:
    return in_file ? (is_signed ? H5T_STD_I16LE : H5T_STD_U16LE)
                   : (is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16);
  case 4:
    return in_file ? (is_signed ? H5T_STD_I32LE : H5T_STD_U32LE)
                   : (is_signed ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32);
  default:
    return in_file ? (is_signed ? H5T_STD_I64LE : H5T_STD_U64LE)
                   : (is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64);
  }
}

hid_t wb_store_compound(const wb_store_table *table, bool in_file) {
  size_t packed = 0;
  for (int k = 0; k < table->member_count; k++) {
    packed += table->members[k].size;
  }
  const hid_t type = H5Tcreate(H5T_COMPOUND, in_file ? packed : table->size);
  size_t at = 0;
  for (int k = 0; k < table->member_count && type >= 0; k++) {
    const wb_store_member *member = &table->members[k];
    if (H5Tinsert(type, member->name, in_file ? at : member->offset,
                  wb_store_integer(member->size, member->is_signed, in_file)) < 0) {
      H5Tclose(type);
      return -1;
    }
    at += member->size;
  }
  return type;
}

void wb_store_quiet_begin(wb_store_quiet *quiet) {
  quiet->function = NULL;
  quiet->data = NULL;
  H5Eget_auto2(H5E_DEFAULT, &quiet->function, &quiet->data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void wb_store_quiet_end(const wb_store_quiet *quiet) {
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, quiet->function, quiet->data);
}

static void stop_printing(void) { H5Eset_auto2(H5E_DEFAULT, NULL, NULL); }

/* HDF5 ends in an exit handler that it has put up long before: this one runs first. Until then a
 * program's own use of HDF5 prints as it did. The flag belongs to the process, like the handlers. */
void wb_store_quiet_at_exit(void) {
  static atomic_flag done = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&done)) {
    (void)atexit(stop_printing);
  }
}

/* Keeps the first description of a walk that starts at the innermost. */
static herr_t keep_first(unsigned n, const H5E_error2_t *entry, void *context) {
  char *text = context;
  if (n == 0 && entry->desc != NULL) {
    snprintf(text, WB_STORE_REASON_BYTES, "%s", entry->desc);
  }
  return 0;
}

const char *wb_store_reason(char text[WB_STORE_REASON_BYTES]) {
  text[0] = 0;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, text);
  text[strcspn(text, "\r\n")] = 0;
  return text[0] != 0 ? text : "unknown reason";
}

hid_t wb_store_in_memory(size_t step) {
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  if (list >= 0 && (H5Pset_fapl_core(list, step, false) < 0 ||
                    H5Pset_fclose_degree(list, H5F_CLOSE_STRONG) < 0 ||
                    H5Pset_libver_bounds(list, H5F_LIBVER_V110, H5F_LIBVER_V110) < 0)) {
    H5Pclose(list);
    return -1;
  }
  return list;
}
