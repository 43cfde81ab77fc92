#include "decomposition/gpu/device_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/array.hpp"
#include "base/errors.hpp"
#include "base/progress.hpp"
#include "comm/host.hpp"
#include "comm/point_to_point.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/nccl_group.hpp"

namespace grove {

// An MPI that does not take device memory would read it as the host's and crash, so it is asked before it is
// tried.
bool mpi_takes_device_memory(const Communicator& comm) {
  if (comm.min(mpi_claims_device_memory() ? 1 : 0) == 0) return false;
  constexpr std::size_t count = 100000;  // more than MPI sends at once
  const int next = (comm.rank() + 1) % comm.size(), previous = (comm.rank() + comm.size() - 1) % comm.size();
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), comm.rank());
  const cuda::PlainDeviceMemory send(count * sizeof(int)), receive(count * sizeof(int));
  cuda::device_upload(send.data(), numbers.data(), count * sizeof(int));
  cuda::device_synchronise();  // MPI does not know of it
  exchange_messages(comm, Tag::exchange, next, send.data(), previous, receive.data(), count * sizeof(int));
  std::vector<int> received(count);
  cuda::device_download(received.data(), receive.data(), count * sizeof(int));
  std::iota(numbers.begin(), numbers.end(), previous);
  return comm.min(received == numbers ? 1 : 0) == 1;
}

namespace {

/// Tells the watchdog that this rank waits for others, as GROVE_MPI does: NCCL may have to reach them first.
class NcclCall {
 public:
  explicit NcclCall(const char* call) { progress().begin_call(call); }
  ~NcclCall() { progress().end_call(); }
  NcclCall(const NcclCall&) = delete;
  NcclCall& operator=(const NcclCall&) = delete;
};

/// Why NCCL cannot be used; empty: it can.
std::string fault_of_nccl(bool gpus_are_shared) {
  if (!cuda::has_nccl()) return "Grove was built without NCCL";
  if (gpus_are_shared) return "NCCL does not let two ranks share a GPU";
  return {};
}

}  // namespace

struct DeviceExchange::Buffers {
  /// Memory that MPI takes.
  class RoundMemory {
   public:
    void reserve(PayloadPath path, std::size_t bytes) {
      if (bytes <= size_) return;
      size_ = bytes;
      if (path == PayloadPath::mpi) {
        device_ = cuda::PlainDeviceMemory();
        device_ = cuda::PlainDeviceMemory(bytes);
        return;
      }
      pinned_ = cuda::Pinned();
      host_.resize(bytes);
      pinned_ = cuda::Pinned(host_.data(), bytes);
    }
    void* data() { return device_.data() ? device_.data() : host_.data(); }

   private:
    std::size_t size_ = 0;
    cuda::PlainDeviceMemory device_;
    Array<std::byte> host_;
    cuda::Pinned pinned_;
  };

  RoundMemory out, in;
};

DeviceExchange::DeviceExchange(const Communicator& comm, bool gpus_are_shared,
                               std::optional<PayloadPath> wanted)
    : comm_(comm), path_(wanted.value_or(PayloadPath::staged)), buffers_(std::make_unique<Buffers>()) {
  if (comm.size() == 1) return;
  const auto tries = [&](PayloadPath path) { return wanted.value_or(path) == path; };
  if (tries(PayloadPath::nccl)) {
    std::string fault = fault_of_nccl(gpus_are_shared);
    if (fault.empty()) fault = join_group();
    if (fault.empty()) {
      path_ = PayloadPath::nccl;
      return;
    }
    if (wanted) throw Agreed<InputError>("payload nccl: " + fault);
  }
  if (tries(PayloadPath::mpi)) {
    if (mpi_takes_device_memory(comm))
      path_ = PayloadPath::mpi;
    else if (wanted)
      throw Agreed<InputError>(
          "payload mpi: this MPI does not take device memory (Open MPI: build it --with-cuda)");
  }
}

DeviceExchange::~DeviceExchange() = default;

std::string DeviceExchange::join_group() try {
  cuda::NcclId id{};
  comm_.together([&] {
    if (comm_.is_master()) id = cuda::NcclGroup::make_id();
  });
  id = comm_.broadcast(id);
  comm_.together([&] {
    const NcclCall call("ncclCommInitRank");
    group_ = std::make_unique<cuda::NcclGroup>(id, comm_.rank(), comm_.size());
  });
  return {};
} catch (const Agreed<std::runtime_error>& error) {
  group_.reset();
  return error.what();
}

void DeviceExchange::apply(std::span<const Transfer> transfers) const {
  if (!group_) {
    apply_in_rounds(transfers);
    return;
  }
  std::vector<cuda::NcclGroup::Transfer> at_once;
  for (const Transfer& t : transfers)
    at_once.push_back({t.send, t.plan.send_offsets(), t.receive, t.plan.receive_offsets(), t.element_size});
  const NcclCall call("ncclGroupEnd");
  group_->exchange(at_once);
}

namespace {

/// The arrays of all transfers, in one direction, as one array of bytes: those of a rank lie together, array
/// by array.
class JoinedArrays {
 public:
  using Offsets = std::span<const Count> (ExchangePlan::*)() const;

  JoinedArrays(std::span<const DeviceExchange::Transfer> transfers, int ranks, Offsets offsets)
      : transfers_(transfers), offsets_(offsets), begin_(static_cast<std::size_t>(ranks) + 1, 0) {
    for (std::size_t rank = 0; rank < begin_.size(); ++rank)
      for (const auto& t : transfers) begin_[rank] += static_cast<Count>(begin_of(t, rank));
  }

  /// Bytes of each rank.
  std::vector<Count> counts() const {
    std::vector<Count> counts;
    for (std::size_t rank = 0; rank + 1 < begin_.size(); ++rank)
      counts.push_back(begin_[rank + 1] - begin_[rank]);
    return counts;
  }

  /// Calls visit(transfer, first, from, bytes) for the parts of `count` bytes of one rank, from number
  /// `begin` on: where they are in that transfer's array, and which of these bytes they are.
  template <class Visit>
  void for_each_part(std::size_t begin, std::size_t count, const Visit& visit) const {
    const auto rank = static_cast<std::size_t>(
        std::upper_bound(begin_.begin(), begin_.end(), static_cast<Count>(begin)) - begin_.begin() - 1);
    auto part = static_cast<std::size_t>(begin_[rank]);
    for (const auto& t : transfers_) {
      const std::size_t in_array = begin_of(t, rank), part_end = part + begin_of(t, rank + 1) - in_array;
      const std::size_t first = std::max(begin, part), last = std::min(begin + count, part_end);
      if (first < last) visit(t, in_array + first - part, first - begin, last - first);
      part = part_end;
    }
  }

 private:
  std::size_t begin_of(const DeviceExchange::Transfer& t, std::size_t rank) const {
    return static_cast<std::size_t>((t.plan.*offsets_)()[rank]) * t.element_size;
  }

  std::span<const DeviceExchange::Transfer> transfers_;
  Offsets offsets_;
  std::vector<Count> begin_;  ///< by rank, and the end
};

}  // namespace

void DeviceExchange::apply_in_rounds(std::span<const Transfer> transfers) const {
  if (transfers.empty()) return;
  std::size_t round_bytes = ExchangePlan::default_round_bytes;
  for (const Transfer& t : transfers) round_bytes = std::min(round_bytes, t.plan.round_elements(1));
  const JoinedArrays sent(transfers, comm_.size(), &ExchangePlan::send_offsets),
      received(transfers, comm_.size(), &ExchangePlan::receive_offsets);
  const ExchangePlan joined(comm_, sent.counts(), received.counts(), round_bytes);
  const auto room = [&](Count bytes) { return std::min(round_bytes, static_cast<std::size_t>(bytes)); };
  auto& [out, in] = *buffers_;
  out.reserve(path_, room(joined.send_total()));
  in.reserve(path_, room(joined.receive_total()));
  ExchangePlan::Rounds rounds;
  rounds.source = [&](std::size_t begin, std::size_t count) {
    sent.for_each_part(begin, count,
                       [&](const Transfer& t, std::size_t first, std::size_t to, std::size_t n) {
                         cuda::copy_any(static_cast<std::byte*>(out.data()) + to,
                                        static_cast<const std::byte*>(t.send) + first, n);
                       });
    return out.data();
  };
  rounds.target = [&](std::size_t, std::size_t) { return in.data(); };
  rounds.arrived = [&](std::size_t begin, std::size_t count) {
    received.for_each_part(begin, count,
                           [&](const Transfer& t, std::size_t first, std::size_t from, std::size_t n) {
                             cuda::copy_any(static_cast<std::byte*>(t.receive) + first,
                                            static_cast<const std::byte*>(in.data()) + from, n);
                           });
  };
  joined.apply(rounds, 1);
}

}  // namespace grove
