/* Reading the symbol table of an ELF object, with every offset checked. */
#include "object.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
enum { OWN_MACHINE = EM_NONE };
#endif

typedef struct image {
  const uint8_t *bytes;
  size_t size;
  const char *symbol;
} image;

static bool inside(const image *o, uint64_t offset, uint64_t size) {
  return offset <= o->size && size <= o->size - offset;
}

static wb_status bad(wb_error *error, const char *what) {
  return WB_FAIL(error, WB_ERROR_FORMAT, "object file: %s", what);
}

/* Copies section header `index`; its contents lie inside the file unless it has none. */
static bool read_section(const image *o, const Elf64_Ehdr *head, uint64_t index,
                         Elf64_Shdr *section) {
  uint64_t at = head->e_shoff + index * sizeof *section;
  if (index >= head->e_shnum || !inside(o, at, sizeof *section)) return false;
  memcpy(section, o->bytes + at, sizeof *section);
  return section->sh_type == SHT_NOBITS || inside(o, section->sh_offset, section->sh_size);
}

/* Looks for `symbol` among the symbols, and for undefined ones. */
static wb_status check_symbols(const image *o, const Elf64_Shdr *symbols, const Elf64_Shdr *texts,
                               bool *found, wb_error *error) {
  const char *names = (const char *)o->bytes + texts->sh_offset;
  if (texts->sh_size == 0 || names[texts->sh_size - 1] != 0) {
    return bad(error, "its string table does not end in a NUL");
  }
  for (uint64_t i = 1; i < symbols->sh_size / sizeof(Elf64_Sym); i++) {
    Elf64_Sym entry;
    memcpy(&entry, o->bytes + symbols->sh_offset + i * sizeof entry, sizeof entry);
    if (entry.st_name >= texts->sh_size) return bad(error, "a symbol's name lies outside");
    const char *name = names + entry.st_name;
    if (entry.st_shndx == SHN_UNDEF) {
      return WB_FAIL(error, WB_ERROR_FORMAT, "object file: undefined symbol %s", name);
    }
    *found |= ELF64_ST_TYPE(entry.st_info) == STT_FUNC && strcmp(name, o->symbol) == 0;
  }
  return WB_OK;
}

wb_status object_check(const void *object, size_t bytes, const char *symbol, wb_error *error) {
  image o = {.bytes = object, .size = bytes, .symbol = symbol};
  if (OWN_MACHINE == EM_NONE) return WB_OK;
  Elf64_Ehdr head;
  if (bytes < sizeof head || memcmp(object, ELFMAG, SELFMAG) != 0) return bad(error, "not ELF");
  memcpy(&head, object, sizeof head);
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_REL) {
    return bad(error, "expected a relocatable 64-bit object");
  }
  if (head.e_machine != OWN_MACHINE) return bad(error, "made for another machine");
  if (head.e_shentsize != sizeof(Elf64_Shdr)) return bad(error, "odd section headers");
  Elf64_Shdr names;
  if (!read_section(&o, &head, head.e_shstrndx, &names) || names.sh_type != SHT_STRTAB) {
    return bad(error, "damaged section names");
  }
  bool found = false;
  for (uint64_t i = 0; i < head.e_shnum; i++) {
    Elf64_Shdr section, texts;
    if (!read_section(&o, &head, i, &section)) return bad(error, "cut off, or a damaged section");
    if (section.sh_type != SHT_SYMTAB) continue;
    if (section.sh_entsize != sizeof(Elf64_Sym) ||
        !read_section(&o, &head, section.sh_link, &texts)) {
      return bad(error, "damaged symbol table");
    }
    WB_TRY(check_symbols(&o, &section, &texts, &found, error));
  }
  if (found) return WB_OK;
  return WB_FAIL(error, WB_ERROR_FORMAT, "object file: expected function %s, found none", symbol);
}
