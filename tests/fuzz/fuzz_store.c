/* Fuzzes the reader of tape files by their content.
 *
 * libhdf5 1.10 itself hangs or crashes on some hostile bytes, which is not ours to mend, so the bytes
 * of a file are not what is mutated. The input is a recipe: each choice of it puts something into a
 * file that HDF5 writes properly but that a tape should not have (other types, ranks, lengths,
 * values, missing and linked parts), or mends it. Whatever comes out must be read or refused, and
 * what was read must pass the check, be written and be read again as the same number of records.
 * Inputs that start with 0xff are the exception: the rest is taken as the bytes of a tape's records,
 * rows and seed, the way to reach the depths of the check fast. */
#include "data/store_image.h"
#include "data/tape_private.h"

#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The recipe, read from its start; 0 behind its end. */
typedef struct recipe {
  const uint8_t *at, *end;
} recipe;

static uint8_t next(recipe *r) { return r->at < r->end ? *r->at++ : 0; }

static int64_t next_number(recipe *r) {
  static const int64_t corners[] = {0,          1,         2,         -1,  INT32_MAX, INT32_MIN,
                                    1 << 30,    INT64_MAX, INT64_MIN, 100, 1000,      7,
                                    UINT16_MAX, 1LL << 31, 1LL << 62, 4};
  const uint8_t choice = next(r);
  return choice < 16 ? corners[choice] : (int64_t)choice - 16;
}

/* ---- types ---- */

static hid_t a_type(recipe *r) {
  const hid_t types[] = {H5T_STD_I8LE,    H5T_STD_U8LE,   H5T_STD_I16BE,  H5T_STD_U16LE,
                         H5T_STD_I32LE,   H5T_STD_U32BE,  H5T_STD_I64LE,  H5T_STD_U64LE,
                         H5T_STD_I64BE,   H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_STD_B8LE,
                         H5T_STD_REF_OBJ, H5T_STD_I64LE};
  return types[next(r) % (sizeof types / sizeof types[0])];
}

static hid_t a_string(recipe *r) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  const uint8_t choice = next(r);
  H5Tset_size(type, choice == 0 ? H5T_VARIABLE : (size_t)(1 + choice % 40));
  H5Tset_strpad(type, (H5T_str_t)(choice % 3));
  return type;
}

/* A compound with the given members, some of them of odd types, some missing. */
static hid_t a_compound(recipe *r, const char *const *names, int count) {
  hid_t type = H5Tcreate(H5T_COMPOUND, 1024);
  size_t at = 0;
  const uint8_t odd = next(r);
  for (int k = 0; k < count; k++) {
    if (odd > 240 && k == odd % count) continue;
    const hid_t member = odd > 200 && k == odd % count ? a_type(r) : H5T_STD_I64LE;
    H5Tinsert(type, names[k], at, member);
    at += H5Tget_size(member);
  }
  if (at == 0) H5Tinsert(type, "nothing", at++, H5T_STD_I8LE);
  H5Tset_size(type, at);
  return type;
}

/* ---- attributes and datasets ---- */

static void put_attribute(recipe *r, hid_t owner, const char *name, hid_t type, const void *value) {
  const hsize_t two = 2;
  const uint8_t choice = next(r);
  if (choice == 255) return;
  const hid_t space = choice == 254   ? H5Screate_simple(1, &two, NULL)
                      : choice == 253 ? H5Screate(H5S_NULL)
                                      : H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(owner, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (choice < 253) H5Awrite(attribute, type, value);
  H5Aclose(attribute);
  H5Sclose(space);
}

static void put_number(recipe *r, hid_t owner, const char *name, int64_t usual) {
  char value[8] = {0};
  const uint8_t choice = next(r);
  hid_t type = H5T_STD_I64LE;
  int64_t number = usual;
  if (choice > 220) number = next_number(r);
  if (choice > 245) type = a_type(r);
  memcpy(value, &number, sizeof value);
  put_attribute(r, owner, name, type, value);
}

static void put_text(recipe *r, hid_t owner, const char *name, const char *usual) {
  char text[64] = {0};
  const uint8_t choice = next(r);
  if (choice > 230) {
    for (int k = 0; k < choice - 230; k++) text[k] = (char)next(r);
  } else {
    snprintf(text, sizeof text, "%s", usual);
  }
  const hid_t type = a_string(r);
  const char *pointer = text;
  put_attribute(r, owner, name, type, H5Tis_variable_str(type) > 0 ? (const void *)&pointer : text);
  H5Tclose(type);
}

/* A dataset of up to a few elements, or one that claims many and holds none. */
static void put_dataset(recipe *r, hid_t owner, const char *name, int rank, hid_t type,
                        hsize_t count, hsize_t width, const void *data) {
  hsize_t dims[2] = {count, width};
  const uint8_t choice = next(r);
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  if (choice == 255) rank = 3 - rank;
  if (choice == 254) {
    const hsize_t chunk[2] = {16, 2};
    dims[0] = (hsize_t)next_number(r), dims[1] = rank == 2 ? (hsize_t)next_number(r) : 1;
    H5Pset_chunk(list, rank, chunk);
    H5Pset_deflate(list, 1);
  }
  const hid_t space = H5Screate_simple(rank, dims, NULL);
  const hid_t set =
      space < 0 ? -1 : H5Dcreate2(owner, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  if (set >= 0 && choice < 253) H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  if (set >= 0) H5Dclose(set);
  if (space >= 0) H5Sclose(space);
  H5Pclose(list);
  if (choice == 252) {
    H5Ldelete(owner, name, H5P_DEFAULT);
    H5Lcreate_external("elsewhere.h5", "/x", owner, name, H5P_DEFAULT, H5P_DEFAULT);
  } else if (choice == 251) {
    H5Ldelete(owner, name, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(owner, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
}

enum { MOST = 12, CELLS = 4096 };

/* Members of every element are i64, each 0, the element's usual value, or what the recipe says. */
static void put_table(recipe *r, hid_t file, const char *name, const char *const *names,
                      int members, const int64_t (*usual)[9], int rows) {
  static int64_t cells[CELLS];
  const uint8_t choice = next(r);
  if (choice == 255) return;
  const int count = choice < 200 ? rows : choice % MOST;
  for (int k = 0; k < count * members; k++) {
    cells[k] = k / members < rows ? usual[k / members][k % members] : 0;
    if (next(r) > 250) cells[k] = next_number(r);
  }
  const hid_t type = a_compound(r, names, members);
  put_dataset(r, file, name, 1, type, (hsize_t)count, 1, cells);
  H5Tclose(type);
}

static void put_numbers(recipe *r, hid_t owner, const char *name, int rank, int rows, int width,
                        const int64_t *usual) {
  static int64_t cells[CELLS];
  const uint8_t choice = next(r);
  if (choice == 255) return;
  const int count = choice < 220 ? rows : choice % MOST;
  for (int k = 0; k < count * width; k++) {
    cells[k] = k < rows * width ? usual[k] : 0;
    if (next(r) > 250) cells[k] = next_number(r);
  }
  put_dataset(r, owner, name, rank, next(r) > 240 ? a_type(r) : H5T_STD_I64LE, (hsize_t)count,
              (hsize_t)width, cells);
}

static void put_texts(recipe *r, hid_t owner, const char *name, const char *usual, int count) {
  static char texts[MOST][48];
  const char *pointers[MOST];
  const uint8_t choice = next(r);
  if (choice == 255) return;
  if (choice > 220) count = choice % MOST;
  memset(texts, 0, sizeof texts);
  for (int k = 0; k < MOST; k++) {
    snprintf(texts[k], sizeof texts[k], "%s", usual);
    if (next(r) > 245) texts[k][next(r) % 40] = (char)next(r);
    pointers[k] = texts[k];
  }
  const hid_t type = H5Tcopy(H5T_C_S1);
  const bool variable = choice % 2 == 0;
  H5Tset_size(type, variable ? H5T_VARIABLE : sizeof texts[0]);
  put_dataset(r, owner, name, 1, type, (hsize_t)count, 1,
              variable ? (const void *)pointers : (const void *)texts);
  H5Tclose(type);
}

/* ---- a file ---- */

static const char *const record_names[] = {"time_ns", "ref",   "price", "qty",  "arg",
                                           "row",     "owner", "type",  "flags"};
static const char *const seed_names[] = {"ref", "price", "qty", "arrival", "owner", "side"};
static const char *const row_names[] = {"time_ns", "id",        "price",      "size",
                                        "type",    "direction", "participant"};
static const int64_t records[][9] = {{5, 2, 100, 50, 0, 1, 0, 1, 1},
                                     {5, 0, 0, 5, 0, 1, 0, 3, 5},
                                     {6, 0, 0, 1, 2, 2, 0, 7, 4},
                                     {6, 1 << 30, 100, 1, 0, -1, 1, 1, 0}};
static const int64_t seed[][9] = {{0, 100, 25, 1, 0, 1}, {1, -100, 75, 2, 0, 0}};
static const int64_t rows[][9] = {
    {4, 5, 100, 25, 1, -1, 1}, {5, 77, 100, 50, 1, -1, 0}, {6, 0, 0, 1, 5, 1, 2}};
static const int64_t numbers[] = {100, -100, 100, -100, 100, INT32_MIN};
static const int64_t shares[] = {25, 75, 75, 75, 75, 0};

static void put_group(recipe *r, hid_t file, const char *name) {
  if (next(r) % 2 == 0) return;
  const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  static const int64_t zero[] = {0, 0};
  if (strcmp(name, "odd_times") == 0) {
    put_numbers(r, group, "row", 1, 1, 1, zero);
    put_texts(r, group, "text", "0.0000000040", 1);
  } else if (strcmp(name, "sources") == 0) {
    put_texts(r, group, "name", "x.csv", 2);
    put_numbers(r, group, "bytes", 1, 2, 1, zero);
    put_texts(r, group, "hash", "0123456789abcdef0123456789abcdef", 2);
  } else if (strcmp(name, "findings") == 0) {
    put_numbers(r, group, "kind", 1, 2, 1, zero);
    put_numbers(r, group, "row", 1, 2, 1, zero);
    put_texts(r, group, "text", "look", 2);
  } else {
    put_number(r, group, "edge_records", 1);
    put_number(r, group, "late_adds", 2);
  }
  H5Gclose(group);
}

static void put_everything(recipe *r, hid_t file) {
  put_text(r, file, "format", "warpbook tape");
  put_number(r, file, "version", 1);
  put_number(r, file, "price_unit", 1);
  put_number(r, file, "tick_size", 100);
  const uint8_t parts = next(r);
  if (parts & 1) put_text(r, file, "instrument", "ABC");
  if (parts & 2) put_text(r, file, "day", "2024-01-02");
  if (parts & 4) put_number(r, file, "levels", 1);
  if (parts & 8) put_number(r, file, "unique_refs", 1);
  if (parts & 16) put_number(r, file, "base", 5);
  if (parts & 32) put_number(r, file, "end_ns", 5);
  static const int64_t ids[] = {0, 0, 77};
  put_table(r, file, "records", record_names, 9, records, 4);
  put_table(r, file, "seed", seed_names, 6, seed, 2);
  put_numbers(r, file, "ids", 1, 3, 1, ids);
  put_table(r, file, "rows", row_names, 7, rows, 3);
  put_numbers(r, file, "book_price", 2, 3, 2, numbers);
  put_numbers(r, file, "book_qty", 2, 3, 2, shares);
  put_texts(r, file, "participants", "null", 2);
  put_group(r, file, "odd_times");
  put_group(r, file, "sources");
  put_group(r, file, "findings");
  put_group(r, file, "counts");
}

/* The bytes of a file made by the recipe; NULL if HDF5 would not write it. */
static void *make_image(recipe *r, size_t *size) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 1 << 16, false);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  const hid_t file = H5Fcreate("fuzzed", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  put_everything(r, file);
  H5Fflush(file, H5F_SCOPE_LOCAL);
  const ssize_t length = H5Fget_file_image(file, NULL, 0);
  void *bytes = length > 0 ? malloc((size_t)length) : NULL;
  if (bytes != NULL) H5Fget_file_image(file, bytes, (size_t)length);
  *size = bytes != NULL ? (size_t)length : 0;
  H5Fclose(file);
  return bytes;
}

/* ---- what must hold ---- */

static void expect(bool holds) {
  if (!holds) abort();
}

static void read_and_write(const void *bytes, size_t size) {
  wb_tape *tape = NULL, *again = NULL;
  wb_error error = {0};
  if (wb_store_read_image(bytes, size, &tape, &error) != WB_OK) {
    expect(tape == NULL && error.text[0] != 0);
    return;
  }
  void *image = NULL;
  size_t length = 0;
  expect(wb_tape_check(tape, &error) == WB_OK);
  expect(wb_store_write_image(tape, &image, &length, &error) == WB_OK);
  expect(wb_store_read_image(image, length, &again, &error) == WB_OK);
  expect(again->record_count == tape->record_count && again->row_count == tape->row_count &&
         again->seed_count == tape->seed_count && again->unique_refs == tape->unique_refs);
  free(image);
  wb_tape_free(again);
  wb_tape_free(tape);
}

/* The check alone, on arrays of arbitrary bytes: it reads nothing beyond them. */
static void check_bytes(const uint8_t *data, size_t size) {
  const size_t third = size / 3;
  wb_tape *tape = wb_tape_new();
  expect(tape != NULL);
  for (int k = 0; k < 3; k++) {
    tape->blocks[k] = malloc(third + 1);
    expect(tape->blocks[k] != NULL);
    memcpy(tape->blocks[k], data + (size_t)k * third, third);
  }
  tape->records = tape->blocks[0];
  tape->rows = tape->blocks[1];
  tape->seed = tape->blocks[2];
  tape->record_count = (int64_t)(third / sizeof *tape->records);
  tape->row_count = (int64_t)(third / sizeof *tape->rows);
  tape->seed_count = (int32_t)(third / sizeof *tape->seed);
  int64_t ids[4] = {0};
  tape->ids = ids;
  tape->ref_count = 4;
  tape->unique_refs = true;
  (void)wb_tape_check(tape, NULL);
  wb_tape_free(tape);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 0 && data[0] == 0xff) {
    check_bytes(data + 1, size - 1);
    return 0;
  }
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  recipe r = {data, data + size};
  size_t length = 0;
  void *bytes = make_image(&r, &length);
  if (bytes != NULL) read_and_write(bytes, length);
  free(bytes);
  return 0;
}
