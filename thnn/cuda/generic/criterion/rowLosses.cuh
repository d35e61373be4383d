/* Shared by criterions with a loss per row. */
#ifndef THCUNN_ROW_LOSSES_CUH
#define THCUNN_ROW_LOSSES_CUH

#include "cuda/THC/THCIndex.cuh"
#include "cuda/generic/shared/channelwise.cuh"
#include "cuda/generic/shared/rows.cuh"
#include "geometry/planes.h"

namespace
{

template <typename Loss> struct KeepLoss {
  Loss loss;
  accreal *losses;
  template <typename Team> __device__ void operator()(int64_t row, Team team) const
  {
    const accreal sum = loss(row, team);
    if (Team::rank() == 0)
      losses[row] = sum;
  }
};

struct LossOfRow {
  const accreal *losses;
  __device__ accreal operator()(int64_t row, int64_t plane) const
  {
    (void)plane;
    return losses[row];
  }
};

struct WriteRowLoss {
  accreal norm;
  real *output;
  __device__ void operator()(int64_t plane, const accreal &sum) const
  {
    (void)plane;
    *output = (real)(norm * sum);
  }
};

inline Channels rowLossChannels(int64_t rows)
{
  return channelsOf(THNNPlanes{1, 1, rows});
}

inline int64_t rowLossScratchBytes(int64_t rows)
{
  return rows * (int64_t)sizeof(accreal) +
         channelScratchBytes<ChannelSum<LossOfRow>>(rowLossChannels(rows));
}

/* *output = sum of loss(row, team) over the rows, divided by their number when sizeAverage. */
template <typename Loss>
void sumRowLosses(THCPlan *plan, int64_t rows, int64_t length, const Loss &loss, bool sizeAverage,
                  real *output, accreal *scratch)
{
  const accreal norm = (accreal)(sizeAverage ? 1 / (double)rows : 1);
  forRows(plan, rows, length, KeepLoss<Loss>{loss, scratch});
  sumChannels(plan, rowLossChannels(rows), ChannelSum<LossOfRow>{{scratch}},
              WriteRowLoss{norm, output}, scratch + rows);
}

struct TargetInRange {
  THCIndexRange range;
  __device__ void operator()(int64_t i, const int64_t *target) const
  {
    THC_indexIsValid(target[i], range);
  }
};

/* If the state's checkIndices is set: raises before the work if one of the first `count` targets is
 * bad. */
inline void checkFirstTargets(THCState *state, const char *function, THCIndexTensor *target,
                              int64_t count, int64_t low, int64_t high)
{
  THC_checkState(state, function);
  const TargetInRange check = {THC_indexRange(state, function, low, high)};
  THC_checkValues<int64_t>(state, function, target, "target", 3, count, check);
}

} // namespace

#endif
