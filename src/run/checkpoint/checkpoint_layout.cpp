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

static_assert(checkpoint_format == 20);

using R = RunState;
static_assert(sizeof(R) == 7312 && sizeof(Conservation) == 120 && sizeof(EnergyBalance) == 56);
static_assert(Offsets<19>{offsetof(R, begin), offsetof(R, longest_step), offsetof(R, leaf_size),
                          offsetof(R, clock), offsetof(R, steps_done), offsetof(R, groups_tuned_at),
                          offsetof(R, epoch), offsetof(R, has_rungs), offsetof(R, has_gas),
                          offsetof(R, snapshots), offsetof(R, energy), offsetof(R, conservation),
                          offsetof(R, last_output), offsetof(R, checkpoint_seconds), offsetof(R, tuning),
                          offsetof(R, renewals), offsetof(R, rung_costs), offsetof(R, forces),
                          offsetof(R, frame)} == Offsets<19>{0, 8, 16, 24, 40, 48, 56, 88, 89, 96, 104, 160,
                                                             280, 288, 296, 4800, 4808, 6448, 7256});

using T = TreeTuning::State;
static_assert(sizeof(T) == 4504 && sizeof(RedecompositionPrice) == 1520 &&
              sizeof(RebuildInterval::State) == 2608 && sizeof(StepWork) == 16);
static_assert(Offsets<8>{offsetof(T, price), offsetof(T, interval), offsetof(T, particles),
                         offsetof(T, walked), offsetof(T, lost), offsetof(T, life), offsetof(T, step),
                         offsetof(T, fresh)} == Offsets<8>{0, 1520, 4128, 4136, 4144, 4152, 4160, 4176});

using A = RebuildAbove::State;
static_assert(sizeof(A) == 992);
static_assert(Offsets<4>{offsetof(A, fresh), offsetof(A, active), offsetof(A, work), offsetof(A, is_due)} ==
              Offsets<4>{0, 328, 656, 984});

using B = RungCosts;
static_assert(sizeof(B) == 1640);
static_assert(Offsets<5>{offsetof(B, particles), offsetof(B, steps), offsetof(B, interactions),
                         offsetof(B, walked), offsetof(B, busiest)} == Offsets<5>{0, 328, 656, 984, 1312});

using F = ForceReport;
static_assert(sizeof(F) == 808);
static_assert(Offsets<14>{offsetof(F, particles), offsetof(F, active), offsetof(F, active_of),
                          offsetof(F, work), offsetof(F, not_finite), offsetof(F, interactions),
                          offsetof(F, busiest), offsetof(F, own), offsetof(F, let), offsetof(F, let_bytes),
                          offsetof(F, let_fraction), offsetof(F, median_acceleration), offsetof(F, stands_in),
                          offsetof(F, critical_separation)} ==
              Offsets<14>{0, 8, 16, 344, 672, 680, 728, 736, 752, 776, 784, 792, 796, 800});

static_assert(sizeof(BlockClock::State) == 16 && sizeof(Epoch) == 32 && sizeof(Frame) == 56 &&
              sizeof(GravityState) == 544 && sizeof(GravitySetup) == 208 && sizeof(WalkSetup) == 168 &&
              sizeof(DomainHead) == 144 && sizeof(Cell) == 88 && sizeof(NodeLinks) == 16);

}  // namespace
}  // namespace grove
