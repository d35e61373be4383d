#include "fiber.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef CUEMU_ASAN
#  include <sanitizer/common_interface_defs.h>
#endif

/* cuemu_switch(&from, to): saves what the ABI asks a callee to keep, changes the stack,
 * restores. */
#if defined(__x86_64__)
extern "C" void cuemu_switch(void **from, void *to);
__asm__(R"(
  .text
  .globl cuemu_switch
  .hidden cuemu_switch
  .type cuemu_switch, @function
cuemu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size cuemu_switch, .-cuemu_switch
)");
#elif defined(__aarch64__)
extern "C" void cuemu_switch(void **from, void *to);
__asm__(R"(
  .text
  .globl cuemu_switch
  .hidden cuemu_switch
  .type cuemu_switch, %function
cuemu_switch:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .size cuemu_switch, .-cuemu_switch
)");
#endif

namespace cuemu
{

static char *newStack(size_t bytes)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *memory = (char *)mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) {
    perror("cuemu: no memory for a fiber's stack");
    abort();
  }
  return memory + page;
}

void fiberCreate(Fiber *fiber, size_t stackBytes, void (*entry)())
{
  fiber->stack = newStack(stackBytes);
  fiber->stackBytes = stackBytes;
#if defined(CUEMU_UCONTEXT)
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack;
  fiber->context.uc_stack.ss_size = stackBytes;
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, entry, 0);
#elif defined(__x86_64__)
  void **top = (void **)(fiber->stack + stackBytes);
  *--top = nullptr; /* keeps the entry's frame aligned as after a call */
  *--top = (void *)entry;
  for (int saved = 0; saved < 6; saved++)
    *--top = nullptr;
  uint32_t *control = (uint32_t *)--top;
  control[0] = 0x1f80; /* MXCSR at program start */
  control[1] = 0x037f; /* x87 control word at program start */
  fiber->stackPointer = top;
#else
  void **frame = (void **)(fiber->stack + stackBytes - 160);
  for (int saved = 0; saved < 20; saved++)
    frame[saved] = nullptr;
  frame[11] = (void *)entry; /* x30 */
  fiber->stackPointer = frame;
#endif
}

#ifdef CUEMU_ASAN
/* The sanitizer wants to know the stack that it leaves and the one that it comes to. */
static Fiber *leaving;

static void announce(Fiber *from, Fiber *to)
{
  leaving = from;
  __sanitizer_start_switch_fiber(&from->fakeStack, to->stack, to->stackBytes);
}

static void arrive(void *fakeStack)
{
  const void *stack;
  size_t bytes;
  __sanitizer_finish_switch_fiber(fakeStack, &stack, &bytes);
  if (!leaving->stack) {
    leaving->stack = (char *)stack;
    leaving->stackBytes = bytes;
  }
}
#else
static void announce(Fiber *, Fiber *) {}
static void arrive(void *) {}
#endif

void fiberSwitch(Fiber *from, Fiber *to)
{
  announce(from, to);
#ifdef CUEMU_UCONTEXT
  swapcontext(&from->context, &to->context);
#else
  cuemu_switch(&from->stackPointer, to->stackPointer);
#endif
#ifdef CUEMU_ASAN
  arrive(from->fakeStack);
#else
  arrive(nullptr);
#endif
}

void fiberEntered()
{
  arrive(nullptr);
}

} // namespace cuemu
