#include "decomposition/processor_set_tree.hpp"

#include <algorithm>
#include <string>

#include "base/errors.hpp"
#include "decomposition/transport_collectives.hpp"
#include "decomposition/transport_messages.hpp"

namespace grove {
namespace {

/// Unwinds the script after a service failed on some rank, which has noted the error itself.
struct ScriptEnded {};

}  // namespace

std::unique_ptr<ServiceTransport> make_transport(const Communicator& comm, Transport transport) {
  if (transport == Transport::messages) return std::make_unique<MessageTransport>(comm);
  return std::make_unique<CollectiveTransport>(comm);
}

ProcessorSetTree::ProcessorSetTree(const Communicator& comm, Transport transport,
                                   std::vector<ServiceEntry> services, DecompositionReport& report)
    : comm_(comm),
      services_(std::move(services)),
      report_(report),
      transport_(make_transport(comm, transport)) {}

ProcessorSetTree::~ProcessorSetTree() = default;

void ProcessorSetTree::run(const std::function<void()>& script) {
  error_ = nullptr;
  in_call_ = false;
  if (comm_.is_master()) {
    try {
      script();
    } catch (const ScriptEnded&) {
    } catch (...) {
      if (in_call_) throw;
      error_ = std::current_exception();
    }
    std::int32_t end = ServiceTransport::end_of_script;
    Bytes nothing;
    transport_->spread(end, nothing);
  } else {
    serve();
  }
  comm_.together([this] {
    if (error_) std::rethrow_exception(error_);
  });
}

Bytes ProcessorSetTree::call(std::string_view name, std::span<const std::byte> input) {
  const auto time = report_.timers.time(std::string(name));
  const auto entry =
      std::find_if(services_.begin(), services_.end(), [&](const auto& s) { return s.name == name; });
  auto service = static_cast<std::int32_t>(entry - services_.begin());
  Bytes bytes(input.begin(), input.end()), answer;
  in_call_ = true;
  transport_->spread(service, bytes);
  run_here(*entry, bytes, answer);
  bool failed = error_ != nullptr;
  transport_->collect(*entry, answer, failed);
  in_call_ = false;
  ++report_.collectives;
  if (failed) throw ScriptEnded{};
  return answer;
}

void ProcessorSetTree::serve() {
  while (true) {
    std::int32_t service = 0;
    Bytes input, answer;
    transport_->spread(service, input);
    if (service == ServiceTransport::end_of_script) return;
    const ServiceEntry& entry = services_[static_cast<std::size_t>(service)];
    const auto time = report_.timers.time(std::string(entry.name));
    run_here(entry, input, answer);
    bool failed = error_ != nullptr;
    transport_->collect(entry, answer, failed);
    ++report_.collectives;
  }
}

void ProcessorSetTree::run_here(const ServiceEntry& service, std::span<const std::byte> input,
                                Bytes& answer) {
  // Not guarded: transports combine answers of one length, so a rank that cannot hold its own cannot go on.
  answer.assign(service.answer_bytes(input), std::byte{0});
  try {
    service.run(input, answer);
  } catch (...) {
    error_ = std::current_exception();
  }
}

}  // namespace grove
