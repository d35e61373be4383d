/* Where GCC's parallel regions begin: the linker leads those of this library here. libgomp makes a system call
 * at the end of each one, of one thread as well, which takes longer than a small layer. Outside of all regions
 * the function of a region does the same without a team of its own; inside of one it would share out its loops
 * with that one's threads. */
#include <omp.h>

void __real_GOMP_parallel(void (*run)(void *), void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(void (*run)(void *), void *data, unsigned threads, unsigned flags);

void __wrap_GOMP_parallel(void (*run)(void *), void *data, unsigned threads, unsigned flags)
{
  if (threads == 1 && omp_get_level() == 0)
    run(data);
  else
    __real_GOMP_parallel(run, data, threads, flags);
}
