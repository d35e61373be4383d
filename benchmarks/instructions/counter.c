/* A plugin of QEMU's user-mode emulation: counts the instructions that each function of a program executes, and
 * how many of them are fused multiply-adds of vectors of floats. At the end it writes to standard error, for each
 * function that has executed any of the latter, one line:
 *   counted <function> <instructions> <multiply-adds>
 * Only functions of the program's own file have names, so it is linked statically with what is measured.
 *
 * The declarations are those of version 1 of QEMU's interface; few systems have its header in a package. */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t Plugin;
typedef struct qemu_plugin_tb Block;
typedef struct qemu_plugin_insn Instruction;
enum { ADD_UINT64 = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(Plugin plugin, void (*translated)(Plugin, Block *));
void qemu_plugin_register_vcpu_tb_exec_inline(Block *block, int operation, void *counter,
                                              uint64_t summand);
void qemu_plugin_register_atexit_cb(Plugin plugin, void (*atExit)(Plugin, void *), void *data);
size_t qemu_plugin_tb_n_insns(const Block *block);
Instruction *qemu_plugin_tb_get_insn(const Block *block, size_t index);
char *qemu_plugin_insn_disas(const Instruction *instruction);
const char *qemu_plugin_insn_symbol(const Instruction *instruction);

EXPORT extern const int qemu_plugin_version;
const int qemu_plugin_version = 1;

typedef struct Function {
  struct Function *next;
  char *name;
  uint64_t instructions, multiplyAdds;
} Function;

static Function *functions;

/* The counters of a function; NULL without memory. */
static Function *find(const char *name)
{
  for (Function *f = functions; f; f = f->next)
    if (!strcmp(f->name, name))
      return f;
  Function *made = calloc(1, sizeof(*made));
  if (!made || !(made->name = strdup(name))) {
    free(made);
    return NULL;
  }
  made->next = functions;
  return functions = made;
}

/* Whether a disassembled instruction is a fused multiply-add of vectors of floats. */
static bool isMultiplyAdd(const char *text)
{
  char name[16] = "", operands[128] = "";
  sscanf(text, "%15s %127[^\n]", name, operands);
  if (!strncmp(name, "vfmadd", 6) || !strncmp(name, "vfmsub", 6) || !strncmp(name, "vfnm", 4))
    return strstr(name, "ps") != NULL; /* x86-64; "ss" is a single number */
  if (!strcmp(name, "fmla") || !strcmp(name, "fmls"))
    return strstr(operands, ".4s") != NULL; /* aarch64 */
  return false;
}

/* Adds a block's instructions to the counters of its function whenever it runs. */
static void translated(Plugin plugin, Block *block)
{
  (void)plugin;
  size_t count = qemu_plugin_tb_n_insns(block);
  const char *name = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(block, 0));
  Function *function = name ? find(name) : NULL;
  if (!function)
    return;
  uint64_t multiplyAdds = 0;
  for (size_t i = 0; i < count; i++) {
    char *text = qemu_plugin_insn_disas(qemu_plugin_tb_get_insn(block, i));
    multiplyAdds += text && isMultiplyAdd(text);
    free(text);
  }
  qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_UINT64, &function->instructions, count);
  if (multiplyAdds)
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_UINT64, &function->multiplyAdds,
                                             multiplyAdds);
}

static void report(Plugin plugin, void *data)
{
  (void)plugin, (void)data;
  for (const Function *f = functions; f; f = f->next)
    if (f->multiplyAdds)
      fprintf(stderr, "counted %s %" PRIu64 " %" PRIu64 "\n", f->name, f->instructions,
              f->multiplyAdds);
}

EXPORT int qemu_plugin_install(Plugin plugin, const void *info, int count, char **arguments);
int qemu_plugin_install(Plugin plugin, const void *info, int count, char **arguments)
{
  (void)info, (void)count, (void)arguments;
  qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated);
  qemu_plugin_register_atexit_cb(plugin, report, NULL);
  return 0;
}
