#pragma once

namespace grove {

/// Message tags; each kind of traffic has its own, fixed.
enum class Tag : int {
  service_call = 1,
  service_answer,
  exchange,
  let_payload,
  routed_payload,
  told,
  told_next
};

}  // namespace grove
