#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/timers.hpp"
#include "comm/communicator.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/services/service.hpp"

namespace grove {

class ServiceTransport;

/// The ranks as a binary tree, rank 0 (the master) at its root: rank r of the set [r, end) hands the upper
/// half of (r, end) to one child and the lower half to the other, so a subtree is a run of ranks.
///
/// The master runs a script that calls services; every other rank serves until the script ends. If a service
/// throws on a rank, or the script throws, the script ends and every rank throws the error of the lowest such
/// rank (as Communicator::together does). A fault on a call's way (no memory for an answer, say)
/// leaves other ranks waiting, so it is thrown as it is, there alone: the program must abort.
class ProcessorSetTree {
 public:
  /// services (in): all that can be called, the same on every rank, each bound to this rank's data.
  ProcessorSetTree(const Communicator& comm, Transport transport, std::vector<ServiceEntry> services,
                   DecompositionReport& report);
  ~ProcessorSetTree();

  /// Collective: the master runs the script, the others serve it.
  void run(const std::function<void()>& script);

  /// In the script: the combined answer of all ranks.
  template <Service S>
  std::vector<typename S::Output> call(std::span<const typename S::Input> input) {
    const Bytes answer = call(S::name, std::as_bytes(input));
    const auto outputs = detail::as<typename S::Output>(answer);
    return {outputs.begin(), outputs.end()};
  }
  template <Service S>
  std::vector<typename S::Output> call(const std::vector<typename S::Input>& input) {
    return call<S>(std::span<const typename S::Input>(input));
  }

 private:
  Bytes call(std::string_view name, std::span<const std::byte> input);
  void serve();
  /// Runs a service here; notes the error if it throws.
  void run_here(const ServiceEntry& service, std::span<const std::byte> input, Bytes& answer);

  const Communicator& comm_;
  std::vector<ServiceEntry> services_;
  DecompositionReport& report_;
  std::unique_ptr<ServiceTransport> transport_;
  std::exception_ptr error_;  ///< what a service threw here
  bool in_call_ = false;      ///< the master has begun a call that has not ended
};

}  // namespace grove
