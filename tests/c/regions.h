/* `regions` counts the parallel regions that the libraries start, in programs that are compiled
 * with COUNTS_REGIONS. _GNU_SOURCE must be defined before all headers. */
#ifndef TEST_REGIONS_H
#define TEST_REGIONS_H

#ifdef COUNTS_REGIONS
#  include <dlfcn.h>

enum { COUNTS = 1 };

__attribute__((visibility("default"))) void GOMP_parallel(void (*run)(void *), void *data,
                                                          unsigned threads, unsigned flags);

static _Atomic int regions;

/* Comes before libgomp's. */
void GOMP_parallel(void (*run)(void *), void *data, unsigned threads, unsigned flags)
{
  void (*next)(void (*)(void *), void *, unsigned, unsigned);
  *(void **)&next = dlsym(RTLD_NEXT, "GOMP_parallel");
  regions++;
  next(run, data, threads, flags);
}
#else
enum { COUNTS = 0 };
static const int regions = 0;
#endif

#endif
