/* The weight gradient's chains: neighbouring taps of the width, which see the same image element
 * from neighbouring positions. */
#include "generic/convolution/engine/directWeight/directWeight.h"

/* Smallest step between map positions that see the same image elements through different taps. Each
 * residue class of positions modulo this step is a line for chains. */
static int64_t lineCount(const THNNConvolution *geometry)
{
  return geometry->dilation[2] / greatestCommonDivisor(geometry->stride[2], geometry->dilation[2]);
}

int64_t THNN_(directWeight_chainStep)(const THNNCorrelation *correlation)
{
  const THNNConvolution *geometry = &correlation->geometry;
  const int64_t lines = lineCount(geometry);
  const int64_t step = lines * geometry->stride[2] / geometry->dilation[2];
  const bool oneVector = geometry->outputPlanes <= productsFor(geometry->outputPlanes)->lanes;
  const bool fits = correlation->spread[2] == 1 && geometry->kernel[2] > step &&
                    geometry->output[2] >= lines * THNN_CHAIN_TAPS;
  return oneVector && fits ? step : 0;
}

/* Number of taps in the residue class of a tap modulo the step. */
static int64_t classTaps(int64_t tap, int64_t kernel, int64_t step)
{
  return divideUp(kernel - tap % step, step);
}

int64_t THNN_(directWeight_chainCount)(const THNNCorrelation *correlation, int64_t step)
{
  int64_t chains = 0;
  for (int64_t residue = 0; residue < step; residue++)
    chains += divideUp(classTaps(residue, correlation->geometry.kernel[2], step), THNN_CHAIN_TAPS);
  return chains;
}

bool THNN_(directWeight_fitsChains)(const WeightWorker *worker, const THNNConvolutionBox *box)
{
  const int64_t width = box->end[THNN_WIDTH] - box->first[THNN_WIDTH];
  return worker->plan->chainStep && width >= THNN_CHAIN_TAPS * lineCount(geometryOf(worker));
}

/* The end of the chain that begins with tap `first`. The taps of one residue class make as few
 * chains as possible, of nearly equal lengths. */
static int64_t chainEnd(int64_t first, int64_t kernel, int64_t step)
{
  const int64_t taps = classTaps(first, kernel, step);
  const int64_t chains = divideUp(taps, THNN_CHAIN_TAPS);
  int64_t chain = 1;
  while (taps * chain / chains <= first / step)
    chain++;
  return first % step + taps * chain / chains * step;
}

/* Adds the chain whose taps are the meeting's group along the width. Rows are listed for its first
 * tap, and terms for the first position of each line. */
static void addChain(WeightWorker *worker, Meeting *meeting)
{
  const Panel *panel = &meeting->task->panel;
  const THNNConvolution *geometry = geometryOf(worker);
  const TapGroup chain = meeting->group[2];
  const int64_t lines = lineCount(geometry), spacing = lines * geometry->stride[2];
  const int64_t positions = chain.range.end - chain.range.begin;
  meeting->group[2].end = chain.first + 1;
  meeting->group[2].range.end = chain.range.begin + 1;
  const Rows *rows = THNN_(directWeight_listRows)(worker, meeting);
  if (!rows->count)
    return;
  Correlations chains = {.row = worker->row + rows->of.first,
                         .rows = rows->count,
                         .taps = (int)((chain.end - chain.first) / chain.step),
                         .line = worker->term,
                         .lines = THNN_(directWeight_listTerms)(worker, meeting),
                         .spacing = spacing,
                         .sumStep = chain.step * panel->lanes,
                         .factorStep = lines * panel->lanes,
                         .sums = worker->sums};
  for (int64_t line = 0; line < lines; line++) {
    const int64_t seen =
        (chain.range.begin + line) * geometry->stride[2] + chain.range.start - meeting->first[2];
    chains.positions = divideUp(positions - line, lines);
    chains.begin = maximum(ceilDivide(-seen, spacing), 0);
    chains.end = maximum(ceilDivide(meeting->size[2] - seen, spacing), 0);
    chains.scalars = meeting->scalars + line * geometry->stride[2];
    chains.factors = meeting->factors + line * panel->lanes;
    if (chains.lines && chains.begin < chains.end)
      panel->loops->chains->correlate(&chains);
  }
}

void THNN_(directWeight_addChains)(WeightWorker *worker, Meeting *meeting)
{
  const THNNConvolutionBox *box = meeting->box;
  const int64_t kernel = geometryOf(worker)->kernel[2], step = worker->plan->chainStep;
  int64_t next;
  for (int64_t first = 0; first < kernel; first = next) {
    TapGroup *group = &meeting->group[2];
    *group = (TapGroup){first, chainEnd(first, kernel, step), step, worker->tap[2][first]};
    next = THNN_(directWeight_nextGroup)(group, kernel);
    if (group->end - first == step) {
      /* A single tap is added as such, for the positions that see inside through it. */
      group->range = THNN_(directWeight_clip)(&group->range, box, 2, 1);
      THNN_(directWeight_addGroups)(worker, meeting);
      continue;
    }
    group->range.begin = box->first[THNN_WIDTH];
    group->range.end = box->end[THNN_WIDTH];
    addChain(worker, meeting);
  }
}
