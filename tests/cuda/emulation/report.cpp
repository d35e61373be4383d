#include "cuemu.h"

#include <stdio.h>
#include <stdlib.h>

namespace cuemu
{

void fail(const char *format, ...)
{
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);

  const Builtins &b = builtins;
  if (running.insideThread)
    fprintf(stderr, "cuemu: kernel '%s', block (%u,%u,%u), thread (%u,%u,%u): %s\n", running.kernel,
            b.blockIdx.x, b.blockIdx.y, b.blockIdx.z, b.threadIdx.x, b.threadIdx.y, b.threadIdx.z,
            text);
  else if (running.kernel)
    fprintf(stderr, "cuemu: kernel '%s', block (%u,%u,%u): %s\n", running.kernel, b.blockIdx.x,
            b.blockIdx.y, b.blockIdx.z, text);
  else
    fprintf(stderr, "cuemu: after kernel '%s': %s\n", running.lastKernel, text);
  fflush(stderr);
  abort();
}

} // namespace cuemu
