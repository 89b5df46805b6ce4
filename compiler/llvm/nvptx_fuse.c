/* Two instructions as one, where PTX has one and LLVM 19 does not choose it.
 *
 *   base + (x << c)      mad.lo of a shared address, mad.wide of a global one: the multiplier is
 *                        another pipe than the adders, which addresses would keep busy otherwise
 *   (x & y) | z, ..      lop3: any two logic operations on 32 bits
 *   x < y && p, ..       setp with a predicate: a comparison and what it is joined with
 *
 * Each is a line of assembly without side effects. Only what is used once is taken into another
 * instruction, so that nothing is computed twice. */
#include "nvptx.h"

#include "nvptx_line.h"

#include <stdio.h>
#include <string.h>

enum { SHIFT_MAX = 16, SCALE_MAX = 1 << 20 };

typedef struct fuser {
  nvptx_writer w;
  LLVMTargetDataRef layout;
} fuser;

static LLVMOpcode code_of(LLVMValueRef value) {
  return LLVMIsAInstruction(value) != NULL ? LLVMGetInstructionOpcode(value) : 0;
}

static bool is_used_once(LLVMValueRef value) {
  LLVMUseRef use = LLVMGetFirstUse(value);
  return use != NULL && LLVMGetNextUse(use) == NULL;
}

static bool constant_of(LLVMValueRef value, uint64_t *constant) {
  if (LLVMIsAConstantInt(value) == NULL) return false;
  *constant = LLVMConstIntGetZExtValue(value);
  return true;
}

static void erase_if_unused(LLVMValueRef value) {
  if (LLVMGetFirstUse(value) == NULL) LLVMInstructionEraseFromParent(value);
}

/* ---- addresses ---- */

/* x of an index x << c; the index itself if it is none. `scale` is multiplied by 2^c. */
static LLVMValueRef shifted(LLVMValueRef index, uint64_t *scale) {
  uint64_t by;
  if (code_of(index) != LLVMShl || !constant_of(LLVMGetOperand(index, 1), &by)) return index;
  if (by > SHIFT_MAX) return index;
  *scale <<= by;
  return LLVMGetOperand(index, 0);
}

/* base + x * scale; an index of 32 bits into a space of 64 counts as what it is extended from. */
static LLVMValueRef fuse_address(const fuser *f, LLVMValueRef step) {
  LLVMTypeRef pointer = LLVMTypeOf(step);
  bool wide = LLVMPointerSizeForAS(f->layout, LLVMGetPointerAddressSpace(pointer)) == 8;
  LLVMValueRef base = LLVMGetOperand(step, 0), index = LLVMGetOperand(step, 1);
  if (LLVMGetNumIndices(step) != 1 || LLVMIsAInstruction(base) == NULL) return NULL;
  uint64_t scale = LLVMABISizeOfType(f->layout, LLVMGetGEPSourceElementType(step));
  LLVMValueRef x = shifted(index, &scale);
  LLVMOpcode extension = code_of(x);
  if (scale == 1 || scale > SCALE_MAX || LLVMIsAConstantInt(x) != NULL) return NULL;
  if (wide && extension != LLVMSExt && extension != LLVMZExt) return NULL;
  LLVMValueRef word = wide ? LLVMGetOperand(x, 0) : x;
  if (LLVMTypeOf(word) != f->w.i32) return NULL;
  char text[64];
  snprintf(text, sizeof text, "mad.%s.%c32 $0, $1, %u, $2;", wide ? "wide" : "lo",
           wide && extension == LLVMSExt ? 's' : 'u', (unsigned)scale);
  LLVMValueRef arguments[] = {word, base};
  LLVMValueRef at =
      nvptx_line(&f->w, wide ? f->w.i64 : f->w.i32, text, wide ? "=l,r,l" : "=r,r,r", arguments, 2);
  nvptx_replace(step, LLVMBuildIntToPtr(f->w.builder, at, pointer, ""));
  if (x != index) erase_if_unused(index);
  return at;
}

/* ---- logic ---- */

static bool is_logic(LLVMValueRef value) {
  LLVMOpcode code = code_of(value);
  return code == LLVMAnd || code == LLVMOr || code == LLVMXor;
}

/* ~(1 << x), which is one rotation. */
static bool is_rotation(LLVMValueRef value) {
  uint64_t one;
  LLVMValueRef shift = LLVMGetOperand(value, 0);
  return code_of(value) == LLVMXor && code_of(shift) == LLVMShl &&
         constant_of(LLVMGetOperand(shift, 0), &one) && one == 1;
}

static unsigned logic(LLVMOpcode code, unsigned a, unsigned b) {
  return code == LLVMAnd ? a & b : code == LLVMOr ? a | b : a ^ b;
}

/* An operand as text: constants stand in the line, others become its arguments. */
typedef struct operands {
  char text[3][16];
  LLVMValueRef arguments[4];
  unsigned count;
} operands;

static void add_operand(operands *o, int place, LLVMValueRef value, bool narrow) {
  uint64_t constant;
  if (constant_of(value, &constant)) {
    int64_t number = LLVMConstIntGetSExtValue(value);
    snprintf(o->text[place], sizeof o->text[place], "%lld",
             (long long)(narrow ? (int32_t)number : number));
    return;
  }
  snprintf(o->text[place], sizeof o->text[place], "$%u", o->count + 1);
  o->arguments[o->count++] = value;
}

/* Of outer(inner(a, b), c): the table that lop3 looks up, by the bits of its operands. */
static LLVMValueRef fuse_logic(const fuser *f, LLVMValueRef outer) {
  enum { A = 0xf0, B = 0xcc, C = 0xaa };
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef inner = LLVMGetOperand(outer, k), other = LLVMGetOperand(outer, 1 - k);
    if (!is_logic(inner) || !is_used_once(inner) || is_rotation(inner)) continue;
    LLVMValueRef a = LLVMGetOperand(inner, 0), b = LLVMGetOperand(inner, 1);
    operands o = {.count = 0};
    add_operand(&o, 0, a, true);
    add_operand(&o, 1, b, true);
    add_operand(&o, 2, other, true);
    unsigned table = logic(code_of(outer), logic(code_of(inner), A, B), C);
    char text[96];
    snprintf(text, sizeof text, "lop3.b32 $0, %s, %s, %s, %u;", o.text[0], o.text[1], o.text[2],
             table);
    static const char *const constraints[] = {"=r", "=r,r", "=r,r,r", "=r,r,r,r"};
    LLVMValueRef line =
        nvptx_line(&f->w, f->w.i32, text, constraints[o.count], o.arguments, o.count);
    nvptx_replace(outer, line);
    erase_if_unused(inner);
    return line;
  }
  return NULL;
}

/* ---- comparisons ---- */

static const char *comparison(LLVMValueRef compare) {
  switch (LLVMGetICmpPredicate(compare)) {
  case LLVMIntEQ: return "eq";
  case LLVMIntNE: return "ne";
  case LLVMIntUGT:
  case LLVMIntSGT: return "gt";
  case LLVMIntUGE:
  case LLVMIntSGE: return "ge";
  case LLVMIntULT:
  case LLVMIntSLT: return "lt";
  default: return "le";
  }
}

static char sign(LLVMValueRef compare) {
  switch (LLVMGetICmpPredicate(compare)) {
  case LLVMIntUGT:
  case LLVMIntUGE:
  case LLVMIntULT:
  case LLVMIntULE: return 'u';
  default: return 's';
  }
}

static bool is_true(LLVMValueRef value, bool wanted) {
  uint64_t constant;
  return constant_of(value, &constant) && constant == wanted;
}

/* The two conditions of an and or an or, which may also be written as a select. */
static const char *joined(LLVMValueRef whole, LLVMValueRef condition[2]) {
  LLVMOpcode code = code_of(whole);
  condition[0] = LLVMGetOperand(whole, 0);
  condition[1] = LLVMGetOperand(whole, 1);
  if (code == LLVMAnd) return "and";
  if (code == LLVMOr) return "or";
  if (code == LLVMXor) return "xor";
  if (code != LLVMSelect) return NULL;
  if (is_true(LLVMGetOperand(whole, 2), false)) return "and";
  if (!is_true(LLVMGetOperand(whole, 1), true)) return NULL;
  condition[1] = LLVMGetOperand(whole, 2);
  return "or";
}

static LLVMValueRef fuse_comparison(const fuser *f, LLVMValueRef whole) {
  LLVMValueRef condition[2];
  const char *how = joined(whole, condition);
  if (how == NULL) return NULL;
  for (int k = 0; k < 2; k++) {
    LLVMValueRef compare = condition[k], other = condition[1 - k];
    if (code_of(compare) != LLVMICmp || !is_used_once(compare)) continue;
    if (LLVMIsAConstantInt(other) != NULL) continue;
    LLVMValueRef x = LLVMGetOperand(compare, 0), y = LLVMGetOperand(compare, 1);
    bool narrow = LLVMTypeOf(x) == f->w.i32;
    if (!narrow && LLVMTypeOf(x) != f->w.i64) continue;
    operands o = {.count = 0};
    add_operand(&o, 0, x, narrow);
    add_operand(&o, 1, y, narrow);
    add_operand(&o, 2, other, false);
    char text[96], constraints[16] = "=b";
    for (unsigned i = 0; i + 1 < o.count; i++) strcat(constraints, narrow ? ",r" : ",l");
    strcat(constraints, ",b");
    snprintf(text, sizeof text, "setp.%s.%s.%c%d $0, %s, %s, %s;", comparison(compare), how,
             sign(compare), narrow ? 32 : 64, o.text[0], o.text[1], o.text[2]);
    LLVMValueRef line =
        nvptx_line(&f->w, LLVMTypeOf(whole), text, constraints, o.arguments, o.count);
    nvptx_replace(whole, line);
    erase_if_unused(compare);
    return line;
  }
  return NULL;
}

/* ---- all of it ---- */

/* The line that an instruction became, NULL if it stays as it is. */
static LLVMValueRef fuse(const fuser *f, LLVMValueRef instruction) {
  LLVMOpcode code = code_of(instruction);
  LLVMTypeRef type = LLVMTypeOf(instruction);
  LLVMPositionBuilderBefore(f->w.builder, instruction);
  if (code == LLVMGetElementPtr) return fuse_address(f, instruction);
  if (is_logic(instruction) && type == f->w.i32) return fuse_logic(f, instruction);
  if ((is_logic(instruction) || code == LLVMSelect) && type == f->w.i1) {
    return fuse_comparison(f, instruction);
  }
  return NULL;
}

/* From the last instruction up, so that the outer ones choose their partners first. */
void nvptx_fuse(const wb_program *program, LLVMModuleRef module) {
  fuser f = {.w = nvptx_writer_of(module), .layout = LLVMGetModuleDataLayout(module)};
  LLVMValueRef function = LLVMGetNamedFunction(module, program->name);
  LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
  for (; block != NULL; block = LLVMGetNextBasicBlock(block)) {
    LLVMValueRef at = LLVMGetLastInstruction(block);
    while (at != NULL) {
      LLVMValueRef line = fuse(&f, at);
      at = LLVMGetPreviousInstruction(line != NULL ? line : at);
    }
  }
  LLVMDisposeBuilder(f.w.builder);
}
