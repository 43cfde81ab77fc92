#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"
#include "support/shared_domain.hpp"

namespace grove::testing {

using MakeGravity =
    std::function<std::unique_ptr<Backend>(const Communicator&, Particles, const GravityParameters&)>;

/// Interventions in a run that change no bit of it.
enum class OnTheWay {
  nothing,
  moves,    ///< of leaves, to other ranks
  restores  ///< from all that its backend has, into a new one
};

/// A merger, or another model, in the hands of a backend, by steps of three rungs, through trees that age.
class AgeingRun {
 public:
  AgeingRun(const Communicator& comm, const MakeGravity& make, const GravityParameters& gravity,
            Count particles, OnTheWay change, const std::string& name)
      : comm_(comm),
        moves_(change == OnTheWay::moves),
        restores_(change == OnTheWay::restores),
        is_direct_(gravity.is_direct(particles)),
        make_empty_([=, &comm] { return make(comm, {}, gravity); }) {
    ModelParameters model;
    model.model = name;
    model.particles = particles;
    Particles all = make_particles(model);
    for (std::size_t i = 0; i < all.size(); ++i)
      all.rung[i] = static_cast<std::uint8_t>(norm(all.position[i]) < 1 ? i % 3 : 0);
    backend_ = make(comm, share_of(comm, all), gravity);
  }

  /// New cuts, for ranks that are not alike; then steps, some with new trees in the old leaves.
  void go(int steps) {
    DecompositionReport report;
    DecompositionParameters parameters{.leaf_size = 64};
    if (moves_)
      for (int rank = 0; rank < comm_.size(); ++rank)
        parameters.speeds.push_back(1 + 3 * (static_cast<std::uint32_t>(rank) % 2));
    domain_ = backend_->decompose(parameters, domain_, report);
    evaluate({});
    for (int step = 0; step < steps; ++step) {
      const int first_active = step % 3;
      Kick kick{.first_active = first_active};
      std::fill_n(kick.factor.of, rung_count, 0.01);
      backend_->kick(kick);
      backend_->drift({.factor = 0.05}, nullptr);
      move_leaves();
      if (step == 3) move_leaves();
      evaluate({.grows = step == 3, .first_active = first_active});
      if (restores_) restore();
    }
  }

  Particles particles() const { return gathered(); }
  const std::vector<Count>& interactions() const { return interactions_; }
  Totals totals() const { return backend_->totals(domain_); }
  AuditResult audit() const { return backend_->audit(domain_, 100); }

 private:
  /// To owners of one kind after the other. Before new trees in the old leaves every other rank has none, or,
  /// in the second go, all but the first.
  void move_leaves() {
    if (!moves_) return;
    const LeafOwners owners = odd_owners(kind_++, comm_.size(), domain_.leaves());
    backend_->move_leaves(domain_, owners, timers_);
    EXPECT_EQ(domain_.owners, owners);
    check_leaf_work();
  }
  void restore() {
    Gravity::State state = backend_->gravity().state(domain_);
    Particles own;
    backend_->show(nullptr, [&](const Particles& particles) { own = particles; });
    backend_ = make_empty_();
    backend_->replace(std::move(own));
    backend_->gravity().restore(std::move(state), domain_);
  }
  void check_leaf_work() const {
    const std::vector<Count> work = backend_->leaf_work(domain_);
    ASSERT_EQ(work.size() + 1, domain_.leaf_begin.size());
    backend_->show(nullptr, [&](const Particles& own) {
      ASSERT_EQ(static_cast<Count>(own.size()), domain_.leaf_begin.back());
      for (std::size_t leaf = 0; leaf < work.size(); ++leaf)
        EXPECT_EQ(work[leaf], std::accumulate(own.work.begin() + domain_.leaf_begin[leaf],
                                              own.work.begin() + domain_.leaf_begin[leaf + 1], Count{0}))
            << leaf;
    });
  }
  void evaluate(const EvaluationPlan& plan) {
    const ForceReport forces = backend_->gravity().evaluate(domain_, plan, timers_);
    interactions_.insert(interactions_.end(), {forces.interactions.cell, forces.interactions.particle});
    EXPECT_EQ(comm_.sum(forces.own.interactions), interactions_.back() + forces.interactions.cell);
    // In direct sums all ranks wait for each other, so that their seconds would tell no speeds.
    if (is_direct_)
      EXPECT_EQ(forces.own.seconds, 0);
    else
      EXPECT_GT(comm_.max(forces.own.seconds), 0);
    if (Gas* const gas = backend_->gas()) {
      EXPECT_EQ(gas->evaluate(domain_, plan.first_active, {}), 0);
    }
  }
  Particles gathered() const {
    Particles all;
    backend_->show(nullptr, [&](const Particles& own) { all = gathered_by_id(comm_, own); });
    return all;
  }

  const Communicator& comm_;
  bool moves_, restores_, is_direct_;
  std::function<std::unique_ptr<Backend>()> make_empty_;
  int kind_ = 0;  ///< of the owners to come
  std::unique_ptr<Backend> backend_;
  Domain domain_;
  PhaseTimers timers_;
  std::vector<Count> interactions_;  ///< of each evaluation, with cells and particles
};

/// An intervention changes nothing else: all is as on one rank without any.
inline void check_change(OnTheWay change, const Communicator& comm, const MakeGravity& make,
                         const GravityParameters& gravity, Count particles,
                         const std::string& model = "merger") {
  const Communicator self(MPI_COMM_SELF);
  AgeingRun alone(self, make, gravity, particles, OnTheWay::nothing, model),
      changed(comm, make, gravity, particles, change, model);
  for (const int steps : {6, 4}) {
    alone.go(steps);
    changed.go(steps);
  }
  EXPECT_EQ(changed.interactions(), alone.interactions());
  EXPECT_EQ(changed.totals().total_energy(), alone.totals().total_energy());
  EXPECT_EQ(changed.audit().p99, alone.audit().p99);
  expect_same(changed.particles(), alone.particles());
}

/// Leaves that change their owners before every walk.
inline void check_leaf_moves(const Communicator& comm, const MakeGravity& make,
                             const GravityParameters& gravity, Count particles,
                             const std::string& model = "merger") {
  check_change(OnTheWay::moves, comm, make, gravity, particles, model);
}

}  // namespace grove::testing
