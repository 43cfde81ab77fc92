#pragma once

#include "backend/backend.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "gravity/force_report.hpp"
#include "io/parameters.hpp"
#include "time/block_clock.hpp"
#include "time/timeline.hpp"

namespace grove {

/// A run as what writes and reports sees it: what it refers to changes from step to step.
struct RunView {
  const Communicator& comm;
  const Parameters& parameters;
  const Timeline& timeline;
  const BlockClock& clock;
  Backend& backend;
  const Domain& domain;
  const ForceReport& forces;  ///< of the last evaluation
};

}  // namespace grove
