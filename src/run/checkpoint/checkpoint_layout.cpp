// Layout of the types that are stored as they are in memory, in this checkpoint_format. If one of these
// fails, an older checkpoint would be misread: raise checkpoint_format (io/checkpoint_manifest.hpp), then
// correct the numbers. Fields of one size that change places within a type that is only measured here need
// that, too.
#include <array>
#include <cstddef>

#include "checkpoint.hpp"
#include "checkpoint_arrays.hpp"

namespace grove {
namespace {

template <std::size_t N>
using Offsets = std::array<std::size_t, N>;

static_assert(checkpoint_format == 11);

using R = RunState;
static_assert(sizeof(R) == 10480 && sizeof(Conservation) == 120 && sizeof(EnergyBalance) == 56);
static_assert(Offsets<17>{offsetof(R, begin), offsetof(R, longest_step), offsetof(R, leaf_size),
                          offsetof(R, clock), offsetof(R, steps_done), offsetof(R, groups_tuned_at),
                          offsetof(R, has_rungs), offsetof(R, has_gas), offsetof(R, snapshots),
                          offsetof(R, energy), offsetof(R, conservation), offsetof(R, last_output),
                          offsetof(R, checkpoint_seconds), offsetof(R, tuning), offsetof(R, rung_costs),
                          offsetof(R, forces), offsetof(R, frame)} ==
              Offsets<17>{0, 8, 16, 24, 40, 48, 56, 57, 64, 72, 128, 248, 256, 264, 7984, 9624, 10424});

using T = TreeTuning::State;
static_assert(sizeof(T) == 7720 && sizeof(TreeUpdatePrices) == 2080 &&
              sizeof(TreeUpdateChoice::State) == 5200 && sizeof(CutTiming) == 48 && sizeof(StepWork) == 16);
static_assert(Offsets<11>{offsetof(T, prices), offsetof(T, choice), offsetof(T, cuts), offsetof(T, last),
                          offsetof(T, particles), offsetof(T, rebuilt), offsetof(T, since_rebuild),
                          offsetof(T, age), offsetof(T, walked), offsetof(T, step), offsetof(T, fresh)} ==
              Offsets<11>{0, 2080, 7280, 7328, 7336, 7344, 7352, 7360, 7368, 7376, 7392});

using A = RebuildAbove::State;
static_assert(sizeof(A) == 992);
static_assert(Offsets<4>{offsetof(A, fresh), offsetof(A, active), offsetof(A, work), offsetof(A, is_due)} ==
              Offsets<4>{0, 328, 656, 984});

using B = RungCosts;
static_assert(sizeof(B) == 1640);
static_assert(Offsets<5>{offsetof(B, particles), offsetof(B, steps), offsetof(B, interactions),
                         offsetof(B, walked), offsetof(B, busiest)} == Offsets<5>{0, 328, 656, 984, 1312});

using F = ForceReport;
static_assert(sizeof(F) == 800);
static_assert(Offsets<14>{offsetof(F, particles), offsetof(F, active), offsetof(F, active_of),
                          offsetof(F, work), offsetof(F, not_finite), offsetof(F, interactions),
                          offsetof(F, busiest), offsetof(F, own), offsetof(F, let), offsetof(F, let_bytes),
                          offsetof(F, let_fraction), offsetof(F, median_acceleration), offsetof(F, stands_in),
                          offsetof(F, critical_separation)} ==
              Offsets<14>{0, 8, 16, 344, 672, 680, 720, 728, 744, 768, 776, 784, 788, 792});

static_assert(sizeof(BlockClock::State) == 16 && sizeof(Frame) == 56 && sizeof(GravityState) == 184 &&
              sizeof(GravitySetup) == 176 && sizeof(WalkSetup) == 160 && sizeof(BlockExcess::Block) == 816 &&
              sizeof(DomainHead) == 152 && sizeof(Cell) == 80 && sizeof(NodeLinks) == 16);

}  // namespace
}  // namespace grove
