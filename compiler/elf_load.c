/* A small linker for one object file: maps its sections, applies its relocations, makes code
 * executable and no longer writable.
 *
 * A kernel's object is self-contained: no undefined symbols, nothing that is written, relocations
 * between its own sections only. Whatever is not of that kind is refused. Keep: nothing in the file is
 * believed - every offset, index and size is checked against the bytes at hand before it is used, and
 * whatever a relocation writes lies inside the section it belongs to. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "compiler/elf_load.h"

#if defined(__x86_64__) && defined(__linux__)

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SECTIONS_MOST = 1024, OBJECT_MOST = 1 << 28, NOWHERE = -1 };

typedef struct image {
  const uint8_t *bytes;
  size_t size;
  const char *symbol;
  Elf64_Ehdr head;
  Elf64_Shdr *sections;
  int64_t *places; /* of each section in the mapping; NOWHERE */
  uint8_t *memory;
  size_t code_bytes, all_bytes; /* code first; each a multiple of a page */
} image;

static bool inside(const image *o, uint64_t offset, uint64_t size) {
  return offset <= o->size && size <= o->size - offset;
}

static wb_status bad(wb_error *error, const char *what) {
  return WB_FAIL(error, WB_ERROR_FORMAT, "object: %s", what);
}

/* ---- reading ---- */

static wb_status read_head(image *o, wb_error *error) {
  if (o->size < sizeof o->head || o->size > OBJECT_MOST) return bad(error, "its size is absurd");
  memcpy(&o->head, o->bytes, sizeof o->head);
  const Elf64_Ehdr *h = &o->head;
  if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
      h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_REL) {
    return bad(error, "expected a relocatable 64-bit ELF file");
  }
  if (h->e_machine != EM_X86_64) return bad(error, "made for another machine");
  if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum == 0 || h->e_shnum > SECTIONS_MOST ||
      !inside(o, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr))) {
    return bad(error, "its section table is damaged");
  }
  return WB_OK;
}

static wb_status read_sections(image *o, wb_error *error) {
  size_t count = o->head.e_shnum;
  o->sections = malloc(count * sizeof *o->sections);
  o->places = malloc(count * sizeof *o->places);
  if (o->sections == NULL || o->places == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "object: no memory for %zu sections", count);
  }
  memcpy(o->sections, o->bytes + o->head.e_shoff, count * sizeof *o->sections);
  for (size_t i = 0; i < count; i++) {
    const Elf64_Shdr *s = &o->sections[i];
    o->places[i] = NOWHERE;
    if (s->sh_size > OBJECT_MOST || (s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL &&
                                     !inside(o, s->sh_offset, s->sh_size))) {
      return bad(error, "a section lies outside of it");
    }
  }
  return WB_OK;
}

/* ---- placing ---- */

static size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/* Gives places from `start` on to those sections that are code, or to those that are not. */
static wb_status place_sections(image *o, bool code, size_t start, size_t *end, wb_error *error) {
  size_t at = start;
  for (size_t i = 0; i < o->head.e_shnum; i++) {
    const Elf64_Shdr *s = &o->sections[i];
    if ((s->sh_flags & SHF_ALLOC) == 0 || s->sh_size == 0) continue;
    if (((s->sh_flags & SHF_EXECINSTR) != 0) != code) continue;
    uint64_t unit = s->sh_addralign == 0 ? 1 : s->sh_addralign;
    if (unit > 4096 || (unit & (unit - 1)) != 0) return bad(error, "an alignment is absurd");
    if ((s->sh_flags & (SHF_WRITE | SHF_TLS)) != 0 || s->sh_type == SHT_NOBITS) {
      return bad(error, "it has data that is written: kernels have none");
    }
    at = round_up(at, unit);
    o->places[i] = (int64_t)at;
    at += s->sh_size;
    if (at > OBJECT_MOST) return bad(error, "its sections are too large");
  }
  *end = at;
  return WB_OK;
}

static wb_status map_sections(image *o, wb_error *error) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t end = 0;
  WB_TRY(place_sections(o, true, 0, &end, error));
  if (end == 0) return bad(error, "there is no code in it");
  o->code_bytes = round_up(end, page);
  WB_TRY(place_sections(o, false, o->code_bytes, &end, error));
  o->all_bytes = round_up(end, page);
  void *memory =
      mmap(NULL, o->all_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "object: no memory for %zu bytes of code", o->all_bytes);
  }
  o->memory = memory;
  for (size_t i = 0; i < o->head.e_shnum; i++) {
    if (o->places[i] == NOWHERE) continue;
    memcpy(o->memory + o->places[i], o->bytes + o->sections[i].sh_offset, o->sections[i].sh_size);
  }
  return WB_OK;
}

/* ---- symbols ---- */

static bool is_symbol_table(const image *o, uint64_t section) {
  return section < o->head.e_shnum && o->sections[section].sh_type == SHT_SYMTAB &&
         o->sections[section].sh_entsize == sizeof(Elf64_Sym);
}

/* The symbol's offset in the mapping. */
static wb_status find_symbol(const image *o, uint64_t table, uint64_t index, Elf64_Sym *symbol,
                             int64_t *place, wb_error *error) {
  if (!is_symbol_table(o, table) || index >= o->sections[table].sh_size / sizeof *symbol) {
    return bad(error, "a relocation names no symbol");
  }
  memcpy(symbol, o->bytes + o->sections[table].sh_offset + index * sizeof *symbol, sizeof *symbol);
  if (symbol->st_shndx == SHN_UNDEF) return bad(error, "a symbol is undefined");
  if (symbol->st_shndx >= o->head.e_shnum || o->places[symbol->st_shndx] == NOWHERE ||
      symbol->st_value > o->sections[symbol->st_shndx].sh_size) {
    return bad(error, "a symbol lies outside of its section");
  }
  *place = o->places[symbol->st_shndx] + (int64_t)symbol->st_value;
  return WB_OK;
}

static bool has_name(const image *o, uint64_t table, const Elf64_Sym *symbol, const char *name) {
  uint64_t strings = o->sections[table].sh_link;
  if (strings >= o->head.e_shnum || o->sections[strings].sh_type != SHT_STRTAB) return false;
  const Elf64_Shdr *s = &o->sections[strings];
  size_t length = strlen(name) + 1;
  return symbol->st_name < s->sh_size && length <= s->sh_size - symbol->st_name &&
         memcmp(o->bytes + s->sh_offset + symbol->st_name, name, length) == 0;
}

static wb_status find_entry(const image *o, int64_t *place, wb_error *error) {
  for (uint64_t table = 0; table < o->head.e_shnum; table++) {
    if (!is_symbol_table(o, table)) continue;
    for (uint64_t i = 1; i < o->sections[table].sh_size / sizeof(Elf64_Sym); i++) {
      Elf64_Sym symbol;
      memcpy(&symbol, o->bytes + o->sections[table].sh_offset + i * sizeof symbol, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !has_name(o, table, &symbol, o->symbol)) {
        continue;
      }
      WB_TRY(find_symbol(o, table, i, &symbol, place, error));
      if ((size_t)*place < o->code_bytes) return WB_OK;
    }
  }
  return WB_FAIL(error, WB_ERROR_FORMAT, "object: expected a function %s, found none", o->symbol);
}

/* ---- relocations ---- */

/* Writes a value of 4 bytes if it fits them. */
static bool write_word(uint8_t *at, int64_t value, bool is_signed) {
  bool fits = is_signed ? value >= INT32_MIN && value <= INT32_MAX
                        : value >= 0 && value <= (int64_t)UINT32_MAX;
  const uint32_t word = (uint32_t)value;
  memcpy(at, &word, sizeof word);
  return fits;
}

static wb_status relocate(const image *o, uint64_t section, uint64_t table,
                          const Elf64_Rela *relocation, wb_error *error) {
  const uint64_t type = ELF64_R_TYPE(relocation->r_info);
  const uint64_t width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
  const uint64_t room = o->sections[section].sh_size;
  Elf64_Sym symbol;
  int64_t place;
  if (type == R_X86_64_NONE) return WB_OK;
  if (relocation->r_offset > room || width > room - relocation->r_offset) {
    return bad(error, "a relocation lies outside of its section");
  }
  WB_TRY(find_symbol(o, table, ELF64_R_SYM(relocation->r_info), &symbol, &place, error));
  uint8_t *at = o->memory + o->places[section] + relocation->r_offset;
  if (relocation->r_addend > OBJECT_MOST || relocation->r_addend < -OBJECT_MOST) {
    return bad(error, "a relocation's addend is absurd");
  }
  const int64_t value = (int64_t)(uintptr_t)o->memory + place + relocation->r_addend;
  const int64_t distance = value - (int64_t)(uintptr_t)at;
  bool fits = true;
  switch (type) {
  case R_X86_64_64: memcpy(at, &value, sizeof value); break;
  case R_X86_64_PC64: memcpy(at, &distance, sizeof distance); break;
  case R_X86_64_PC32:
  case R_X86_64_PLT32: fits = write_word(at, distance, true); break;
  case R_X86_64_32: fits = write_word(at, value, false); break;
  case R_X86_64_32S: fits = write_word(at, value, true); break;
  default:
    return WB_FAIL(error, WB_ERROR_FORMAT, "object: relocation type %" PRIu64 " is not known",
                   type);
  }
  return fits ? WB_OK : bad(error, "a relocation does not reach");
}

static wb_status apply_relocations(const image *o, wb_error *error) {
  for (uint64_t i = 0; i < o->head.e_shnum; i++) {
    const Elf64_Shdr *s = &o->sections[i];
    if (s->sh_type == SHT_REL) return bad(error, "relocations of an unknown form");
    if (s->sh_type != SHT_RELA) continue;
    if (s->sh_info >= o->head.e_shnum || s->sh_entsize != sizeof(Elf64_Rela)) {
      return bad(error, "damaged relocations");
    }
    if (o->places[s->sh_info] == NOWHERE) continue; /* of what is not loaded */
    for (uint64_t r = 0; r < s->sh_size / sizeof(Elf64_Rela); r++) {
      Elf64_Rela relocation;
      memcpy(&relocation, o->bytes + s->sh_offset + r * sizeof relocation, sizeof relocation);
      WB_TRY(relocate(o, s->sh_info, s->sh_link, &relocation, error));
    }
  }
  return WB_OK;
}

/* ---- all of it ---- */

static wb_status protect(const image *o, wb_error *error) {
  size_t rest = o->all_bytes - o->code_bytes;
  if (mprotect(o->memory, o->code_bytes, PROT_READ | PROT_EXEC) == 0 &&
      (rest == 0 || mprotect(o->memory + o->code_bytes, rest, PROT_READ) == 0)) {
    return WB_OK;
  }
  return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                 "object: this system does not let memory run as code");
}

static wb_status load(image *o, int64_t *entry, wb_error *error) {
  WB_TRY(read_head(o, error));
  WB_TRY(read_sections(o, error));
  WB_TRY(map_sections(o, error));
  WB_TRY(find_entry(o, entry, error));
  WB_TRY(apply_relocations(o, error));
  return protect(o, error);
}

wb_status wb_elf_load(const void *object, size_t bytes, const char *symbol, wb_elf_code *out,
                      wb_error *error) {
  image o = {.bytes = object, .size = bytes, .symbol = symbol};
  int64_t entry = NOWHERE;
  *out = (wb_elf_code){0};
  wb_status status = load(&o, &entry, error);
  free(o.sections);
  free(o.places);
  if (status != WB_OK) {
    if (o.memory != NULL) munmap(o.memory, o.all_bytes);
    return status;
  }
  const uint8_t *start = o.memory + entry;
  out->memory = o.memory;
  out->bytes = o.all_bytes;
  memcpy(&out->entry, &start, sizeof start);
  return WB_OK;
}

void wb_elf_unload(wb_elf_code *code) {
  if (code->memory != NULL) munmap(code->memory, code->bytes);
  *code = (wb_elf_code){0};
}

#else

wb_status wb_elf_load(const void *object, size_t bytes, const char *symbol, wb_elf_code *out,
                      wb_error *error) {
  (void)object;
  (void)bytes;
  *out = (wb_elf_code){0};
  return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                 "object: kernel %s: objects are loaded without LLVM on x86-64 Linux only", symbol);
}

void wb_elf_unload(wb_elf_code *code) { *code = (wb_elf_code){0}; }

#endif
