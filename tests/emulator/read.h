/* Reading PTX: what the files read_*.c share.
 *
 *   read_lex.c      text to words and operands
 *   read_module.c   directives outside functions, variables with their initial values
 *   read_body.c     a kernel's body: declarations, scopes, labels, calls expanded in place
 *   read_insn.c     instructions that compute; read_memory.c those that touch memory or meet
 *
 * All of them fail through reader_fail, which adds the line. */
#ifndef WB_TESTS_EMULATOR_READ_H
#define WB_TESTS_EMULATOR_READ_H

#include "tests/emulator/ptx.h"

/* A piece of the module's text. */
typedef struct text {
  const char *at;
  size_t length;
} text;

typedef enum operand_kind {
  OPERAND_WORD,    /* a register, special register or symbol, with an offset */
  OPERAND_NUMBER,  /* an integer */
  OPERAND_FLOAT,   /* bits of an f32 */
  OPERAND_DOUBLE,  /* bits of an f64 */
  OPERAND_ADDRESS, /* [word + offset] or [number] */
  OPERAND_VECTOR,  /* { .. } */
  OPERAND_LIST,    /* ( .. ), of calls */
  OPERAND_SINK     /* _ */
} operand_kind;

enum { OPERANDS = 8, PARTS = 16 };

typedef struct operand {
  operand_kind kind;
  bool negated; /* !p */
  bool joined;  /* the one after a bar: p|q */
  text word;    /* also of an address; empty if it has none */
  int64_t number;
  int32_t first, count; /* of a vector or list: where in the parts */
} operand;

typedef struct statement {
  int32_t line;
  text guard; /* empty if there is none */
  bool guard_negated;
  text mnemonic;
  operand operands[OPERANDS];
  int32_t count;
  operand parts[PARTS];
  int32_t part_count;
} statement;

/* Where a .func stands in the text. */
typedef struct ptx_function {
  text name;
  text params, result; /* inside their parentheses */
  const char *body;    /* behind its { */
  int32_t line;
} ptx_function;

/* A name with a meaning, inside a kernel. */
typedef enum symbol_kind { SYMBOL_REGISTER, SYMBOL_MEMORY, SYMBOL_TARGETS } symbol_kind;

typedef struct symbol {
  text name;
  symbol_kind kind;
  int32_t scope;
  /* registers: "name<count>" stands for name0 ..; -1: a single one */
  int32_t count;
  ptx_type type;
  uint32_t slot, stride;
  /* memory: where in its space */
  ptx_space space;
  int64_t address;
  bool dynamic;
  text list; /* of .branchtargets */
} symbol;

typedef struct label {
  text name;
  int32_t scope;
  int32_t at;
  int32_t line;
} label;

/* A use of a label, to be resolved at the end: a branch's target or an entry of a table. */
typedef struct label_use {
  text name;
  int32_t scope;
  int32_t insn;   /* -1: an entry of the kernel's targets */
  int32_t target; /* that entry */
  int32_t line;
} label_use;

typedef struct reader {
  const char *at; /* the next character */
  int32_t line;
  ptx_module *module;
  const ptx_placer *placer;
  wb_error *error;
  /* of the kernel being read */
  ptx_kernel *kernel;
  symbol *symbols;
  int32_t symbol_count, symbol_capacity;
  label *labels;
  int32_t label_count, label_capacity;
  label_use *uses;
  int32_t use_count, use_capacity;
  int32_t *scopes; /* each scope's parent */
  int32_t scope_count, scope_capacity;
  int32_t scope;
  int32_t depth; /* of expanded calls */
} reader;

wb_status reader_fail(const reader *r, const char *format, ...) WB_PRINTF(2, 3);

/* ---- read_lex.c ---- */
bool text_is(text a, const char *b);
bool text_equal(text a, text b);
bool text_starts(text a, const char *prefix);
void skip_blank(reader *r);        /* and comments */
bool at_char(reader *r, char c);   /* looks */
bool take_char(reader *r, char c); /* takes it if it is there */
text take_word(reader *r);         /* empty if there is none; dots belong to words */
wb_status expect_char(reader *r, char c);
wb_status take_number(reader *r, operand *out);
wb_status take_operand(reader *r, statement *s, operand *out, bool nested);
wb_status take_statement(reader *r, text first, statement *s); /* after its first word */
void skip_line(reader *r);
wb_status skip_braces(reader *r); /* behind the opening one */
char *text_copy(text a);

/* Makes room for one more element. */
bool grow(void **array, int32_t count, int32_t *capacity, size_t element);

/* ---- read_module.c ---- */

/* What stands between a space and the end of a name: ".align 4 .v2 .b8 x[3]". */
typedef struct declaration {
  uint32_t align;
  uint32_t vector;
  ptx_type type;
  text name;
  uint64_t elements; /* product of the dimensions, 1 without; 0: [] */
} declaration;

wb_status take_declaration(reader *r, declaration *d);
uint64_t declared_bytes(const declaration *d);
int32_t find_variable(const ptx_module *module, text name); /* -1: none */

static inline uint64_t aligned(uint64_t value, uint64_t align) {
  return (value + align - 1) & ~(align - 1);
}

/* ---- read_body.c ---- */
wb_status read_body(reader *r); /* behind the {, to its } */
/* The symbol of a name, NULL if there is none; `slot` is that of a register. */
wb_status find_symbol(reader *r, text name, const symbol **out, uint32_t *slot);
uint32_t add_slot(reader *r, unsigned element_bytes); /* 0: a predicate */
ptx_insn *add_insn(reader *r, const statement *s);    /* NULL: no memory */
wb_status use_label(reader *r, text name, int32_t insn, int32_t target);

/* ---- read_insn.c ---- */
/* the slot of an operand that is read as `type` */
wb_status read_source(reader *r, const operand *o, ptx_type type, uint32_t *slot);
wb_status read_target(reader *r, const operand *o, ptx_type type, uint32_t *slot, ptx_type *actual);
uint32_t add_constant(reader *r, uint64_t bits, unsigned bytes, bool dynamic); /* 0: no memory */
wb_status read_insn(reader *r, statement *s);

/* ---- read_memory.c ---- */
/* false in `known`: not one of these */
wb_status read_memory_insn(reader *r, const statement *s, bool *known);

/* Takes `part` (with its dot) out of a mnemonic if it is there. */
bool take_mark(char *mnemonic, const char *mark);

#endif
