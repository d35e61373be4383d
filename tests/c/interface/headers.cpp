// All public headers together, in C++: the functions have the names of C.

#include <THNNSimd.h>
#include <THNNExtra.h>
#include <THNN.h>

int main()
{
  THNNState *const state = THNN_State_new();
  const int threads = THNN_State_threads(state);
  THNN_State_free(state);
  return threads == 0 && THNN_simdLevelName()[0] ? 0 : 1;
}
