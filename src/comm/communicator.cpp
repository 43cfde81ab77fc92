#include "comm/communicator.hpp"

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/errors.hpp"
#include "base/types.hpp"
#include "comm/mpi_count.hpp"

namespace grove {

void check_mpi(int code, const char* call) {
  progress().end_call();
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(
      fmt::format("MPI: {} in {}", std::string_view(text, static_cast<std::size_t>(length)), call));
}

Communicator::Communicator(MPI_Comm source) {
  count_collective(0);
  GROVE_MPI(MPI_Comm_dup(source, &comm_));
  GROVE_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  GROVE_MPI(MPI_Comm_rank(comm_, &rank_));
  GROVE_MPI(MPI_Comm_size(comm_, &size_));
}

Communicator::~Communicator() {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

Communicator::Communicator(Communicator&& other) noexcept
    : comm_(std::exchange(other.comm_, MPI_COMM_NULL)),
      rank_(other.rank_),
      size_(other.size_),
      is_even_(other.is_even_) {}

Communicator Communicator::split(int group) const {
  MPI_Comm part;
  count(sizeof(group));
  GROVE_MPI(MPI_Comm_split(comm_, group, rank_, &part));
  Communicator result(part);
  GROVE_MPI(MPI_Comm_free(&part));
  return result;
}

int Communicator::rank_on_host() const {
  MPI_Comm host = MPI_COMM_NULL;
  int rank = 0;
  count(0);
  GROVE_MPI(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host));
  GROVE_MPI(MPI_Comm_rank(host, &rank));
  GROVE_MPI(MPI_Comm_free(&host));
  return rank;
}

void Communicator::broadcast_bytes(std::span<std::byte> bytes, int root) const {
  count(rank_ == root ? bytes.size() : 0);
  GROVE_MPI(MPI_Bcast(bytes.data(), mpi_count(bytes.size()), MPI_BYTE, root, comm_));
}

std::string Communicator::broadcast(const std::string& text, int root) const {
  std::string result = text;
  result.resize(broadcast(text.size(), root));
  broadcast_bytes(std::as_writable_bytes(std::span(result)), root);
  return result;
}

void Communicator::gather_elements(const void* data, std::size_t count, std::size_t element_size,
                                   const std::function<void*(std::size_t)>& resize) const {
  gather_known(data, all_gather(static_cast<Count>(count)), element_size, resize);
}

void Communicator::gather_known(const void* data, std::span<const Count> counts, std::size_t element_size,
                                const std::function<void*(std::size_t)>& resize) const {
  const Count total = std::accumulate(counts.begin(), counts.end(), Count{0});
  if (total > INT32_MAX)
    throw std::runtime_error(fmt::format("cannot gather {} elements in one call", total));
  std::vector<int> sizes(counts.begin(), counts.end()), offsets(counts.size(), 0);
  std::exclusive_scan(sizes.begin(), sizes.end(), offsets.begin(), 0);

  void* const result = resize(static_cast<std::size_t>(total));
  MPI_Datatype element;
  GROVE_MPI(MPI_Type_contiguous(mpi_count(element_size), MPI_BYTE, &element));
  GROVE_MPI(MPI_Type_commit(&element));
  const int own = sizes[static_cast<std::size_t>(rank_)];
  count(static_cast<std::size_t>(own) * element_size);
  GROVE_MPI(MPI_Allgatherv(data, own, element, result, sizes.data(), offsets.data(), element, comm_));
  GROVE_MPI(MPI_Type_free(&element));
}

namespace {

/// How something ended on a rank.
struct Outcome {
  enum Kind : int { failed, input, stopped, fine };
  int kind = fine;
  std::string message;

  /// Runs work, which must not communicate.
  static Outcome of(const std::function<void()>& work) {
    try {
      work();
    } catch (const InputError& error) {
      return {input, error.what()};
    } catch (const Stopped& error) {
      return {stopped, error.what()};
    } catch (const std::exception& error) {
      return {failed, error.what()};
    }
    return {};
  }
  bool is_fine() const { return kind == fine; }
};

/// Collective. Throws what ended the source's work on all ranks.
[[noreturn]] void throw_that_of(const Communicator& comm, int source, const Outcome& own) {
  const int kind = comm.broadcast(own.kind, source);
  const std::string message = comm.broadcast(own.message, source);
  switch (kind) {
    case Outcome::input:
      throw Agreed<InputError>(message);
    case Outcome::stopped:
      throw Agreed<Stopped>(message);
    default:
      throw Agreed<std::runtime_error>(message);
  }
}

}  // namespace

void Communicator::together(const std::function<void()>& work) const {
  const Outcome own = Outcome::of(work);
  const int source = min(own.is_fine() ? size_ : rank_);
  if (source < size_) throw_that_of(*this, source, own);
}

void Communicator::agree_on(const std::function<void()>& work,
                            const std::function<std::vector<Count>(bool is_fine)>& tell) const {
  const Outcome own = Outcome::of(work);
  const std::vector<Count> numbers = tell(own.is_fine());
  if (const auto first = std::find(numbers.begin(), numbers.end(), failed); first != numbers.end())
    throw_that_of(*this, static_cast<int>(first - numbers.begin()), own);
}

std::vector<Count> Communicator::gather_together(const std::function<Count()>& work) const {
  Count number = failed;
  std::vector<Count> numbers;
  agree_on([&] { number = work(); },
           [&](bool is_fine) { return numbers = all_gather(is_fine ? number : failed); });
  return numbers;
}

}  // namespace grove
