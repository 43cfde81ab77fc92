#include "gravity/gpu/device_recut.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "comm/exchange_plan.hpp"
#include "kernels/cuda/cuts/bisection.hpp"
#include "kernels/cuda/cuts/partition/range_order.hpp"
#include "kernels/cuda/cuts/partition/record_segments.hpp"
#include "kernels/cuda/particles/fields.hpp"

namespace grove {
namespace {

/// The leaves of a cell on one rank.
struct Portion {
  int rank;
  std::int32_t first_leaf, last_leaf;  ///< one behind the last
};

class Recut {
 public:
  Recut(const Communicator& comm, const DeviceExchange& exchange, DeviceParticles& particles,
        DeviceForest& forest, const Domain& domain, std::span<const std::int32_t> cells)
      : comm_(comm), exchange_(exchange), particles_(particles), forest_(forest), domain_(domain) {
    for (const std::int32_t cell : cells) {
      roots_.push_back(domain.cells[static_cast<std::size_t>(cell)]);
      roots_.back().child = -1;
      portions_.push_back(portions_of(roots_.back()));
    }
  }

  std::vector<std::vector<Cell>> run(std::int32_t targets_per_warp) {
    fetch_foreign();
    comm_.together([&] {
      if (own_.empty()) return;
      make_records();
      subtrees_ =
          cuda::cut_to_leaves({CutRule::middle, domain_.leaf_size}, joint_roots_, records_, spare_, ids());
      order_own(targets_per_warp);
    });
    return domain_.is_whole ? gathered() : std::move(subtrees_);
  }

 private:
  std::vector<Portion> portions_of(const Cell& root) const {
    std::vector<Portion> portions;
    for (std::int32_t leaf = root.first_leaf; leaf < root.first_leaf + root.leaves;) {
      const int rank = domain_.owner(leaf);
      const std::int32_t last =
          std::min(root.first_leaf + root.leaves, domain_.first_leaf[static_cast<std::size_t>(rank) + 1]);
      portions.push_back({rank, leaf, last});
      leaf = last;
    }
    return portions;
  }
  const Portion* own_portion(std::size_t cell) const {
    const auto found = std::find_if(portions_[cell].begin(), portions_[cell].end(),
                                    [&](const Portion& p) { return p.rank == comm_.rank(); });
    return found == portions_[cell].end() ? nullptr : &*found;
  }
  std::uint64_t first_of_leaf(std::int32_t leaf) const {
    if (leaf == domain_.known_leaf) return static_cast<std::uint64_t>(domain_.leaf(leaf).first);
    const Cell& before = domain_.leaf(leaf - 1);
    return static_cast<std::uint64_t>(before.first + before.count);
  }
  std::uint64_t count(const Portion& p) const {
    return first_of_leaf(p.last_leaf) - first_of_leaf(p.first_leaf);
  }
  /// The place of its particles among those of its rank.
  cuda::ParticleRange range(const Portion& p) const {
    const std::int32_t first = domain_.first_leaf[static_cast<std::size_t>(p.rank)];
    return {first_of_leaf(p.first_leaf) - first_of_leaf(first), count(p)};
  }

  /// All ranks get all fields of the others' portions of cells on several ranks: by rank, then by cell.
  void fetch_foreign() {
    for (std::size_t i = 0; i < roots_.size(); ++i)
      if (const Portion* own = own_portion(i)) own_.push_back(range(*own));
    const bool any_straddles =
        std::any_of(portions_.begin(), portions_.end(), [](const auto& p) { return p.size() > 1; });
    if (!any_straddles) return;
    std::vector<Count> counts(static_cast<std::size_t>(comm_.size()), 0);
    std::vector<cuda::ParticleRange> sent;
    for (int rank = 0; rank < comm_.size(); ++rank) {
      if (rank == comm_.rank()) continue;
      for (std::size_t i = 0; i < roots_.size(); ++i) {
        const Portion* const own = own_portion(i);
        const bool is_there = std::any_of(portions_[i].begin(), portions_[i].end(),
                                          [&](const Portion& p) { return p.rank == rank; });
        if (!own || !is_there) continue;
        sent.push_back(range(*own));
        counts[static_cast<std::size_t>(rank)] += static_cast<Count>(sent.back().count);
      }
    }
    const cuda::DeviceArray<std::uint32_t> numbers = cuda::list_ranges(sent);
    const ExchangePlan plan(comm_, counts);
    foreign_count_ = static_cast<std::size_t>(plan.receive_total());
    std::vector<cuda::DeviceArray<std::byte>> packed;
    std::vector<DeviceExchange::Transfer> transfers;
    for (const DeviceParticles::Column& column : particles_.columns()) {
      const std::size_t element = column.element_size;
      packed.emplace_back(numbers.size() * element);
      cuda::gather_elements(packed.back().data(), {column.values.data(), particles_.size(), nullptr},
                            numbers.data(), numbers.size(), element);
      foreign_.emplace_back(foreign_count_ * element);
      transfers.push_back({plan, packed.back().data(), foreign_.back().data(), element});
    }
    exchange_.apply(transfers);
  }

  /// The foreign array of a field; nullptr: nothing is foreign.
  template <class T>
  const T* foreign(const Field<T>& field) const {
    for (std::size_t c = 0; c < foreign_.size(); ++c)
      if (particles_.columns()[c].info.name == field.info.name)
        return reinterpret_cast<const T*>(foreign_[c].data());
    return nullptr;
  }

  const ParticleId* ids() const { return foreign_count_ > 0 ? ids_.data() : particles_.values(fields::id); }

  /// Records of all particles of the cells that have leaves here, cell by cell, in the order of their ranks.
  /// Foreign ones are numbered from the own ones' end on.
  void make_records() {
    numbers_ = cuda::list_ranges(own_);
    cuda::DeviceRecords own(numbers_.size()), foreign_records(foreign_count_);
    cuda::make_records_of(domain_.box, particles_.values(fields::position), numbers_.data(), numbers_.size(),
                          own);
    cuda::make_records(domain_.box, foreign(fields::position), foreign_count_,
                       static_cast<std::uint32_t>(particles_.size()), foreign_records);
    if (foreign_count_ > 0) {
      ids_ = cuda::DeviceArray<ParticleId>(particles_.size() + foreign_count_);
      cuda::device_copy(ids_.data(), particles_.values(fields::id), particles_.size() * sizeof(ParticleId));
      cuda::device_copy(ids_.data() + particles_.size(), foreign(fields::id),
                        foreign_count_ * sizeof(ParticleId));
    }
    std::vector<cuda::SegmentCopy> from_own, from_foreign;
    std::vector<std::uint64_t> next = first_foreign();
    std::uint64_t end = 0, next_own = 0;
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      if (!own_portion(i)) continue;
      joint_roots_.push_back({roots_[i], end});
      for (const Portion& p : portions_[i]) {
        const bool is_own = p.rank == comm_.rank();
        std::uint64_t& from = is_own ? next_own : next[static_cast<std::size_t>(p.rank)];
        (is_own ? from_own : from_foreign).push_back({from, count(p), end});
        from += count(p);
        end += count(p);
      }
    }
    if (from_foreign.empty()) {
      records_ = std::move(own);
    } else {
      records_ = cuda::DeviceRecords(end);
      cuda::copy_segments(own, records_, from_own);
      cuda::copy_segments(foreign_records, records_, from_foreign);
    }
    spare_ = cuda::DeviceRecords(end);
  }

  /// By rank, where its particles begin among the foreign ones.
  std::vector<std::uint64_t> first_foreign() const {
    std::vector<std::uint64_t> first(static_cast<std::size_t>(comm_.size()) + 1, 0);
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      if (!own_portion(i)) continue;
      for (const Portion& p : portions_[i])
        if (p.rank != comm_.rank()) first[static_cast<std::size_t>(p.rank) + 1] += count(p);
    }
    for (std::size_t rank = 1; rank < first.size(); ++rank) first[rank] += first[rank - 1];
    return first;
  }

  /// Selects the records of the own leaves, in the order of the leaves; makes their trees; orders the fields.
  void order_own(std::int32_t targets_per_warp) {
    std::vector<std::int32_t> leaves;
    std::vector<cuda::SegmentCopy> copies;
    std::uint64_t end = 0;
    std::size_t joint = 0;
    const std::int32_t first_own = domain_.first_leaf[static_cast<std::size_t>(comm_.rank())];
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      const Portion* const own = own_portion(i);
      if (!own) continue;
      const std::uint64_t before = first_of_leaf(own->first_leaf) - first_of_leaf(roots_[i].first_leaf);
      copies.push_back({joint_roots_[joint++].first + before, count(*own), end});
      end += count(*own);
      for (std::int32_t leaf = own->first_leaf; leaf < own->last_leaf; ++leaf)
        leaves.push_back(leaf - first_own);
    }
    if (foreign_count_ > 0) {
      spare_ = cuda::DeviceRecords(end);
      cuda::copy_segments(records_, spare_, copies);
      std::swap(records_, spare_);
    }
    const cuda::DeviceArray<std::uint32_t> order(end);
    // The cuts of bisections do not ask for masses.
    forest_.recut(leaves, {records_, ids(), {nullptr, 0}}, targets_per_warp, order.data());
    particles_.reorder(numbers_.data(), order.data(), end, foreign_);
  }

  /// The owner of a cell's first leaf tells all.
  std::vector<std::vector<Cell>> gathered() const {
    std::vector<Cell> own;
    std::size_t joint = 0;
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      if (!own_portion(i)) continue;
      if (portions_[i].front().rank == comm_.rank())
        own.insert(own.end(), subtrees_[joint].begin(), subtrees_[joint].end());
      ++joint;
    }
    const std::vector<Cell> all = comm_.all_gather_arrays(std::span<const Cell>(own));
    std::vector<std::vector<Cell>> subtrees;
    for (auto next = all.begin(); next != all.end(); next += std::ssize(subtrees.back()))
      subtrees.emplace_back(next, next + 2 * std::ptrdiff_t{next->leaves} - 1);
    return subtrees;
  }

  const Communicator& comm_;
  const DeviceExchange& exchange_;
  DeviceParticles& particles_;
  DeviceForest& forest_;
  const Domain& domain_;
  std::vector<Cell> roots_;                            ///< all cells
  std::vector<std::vector<Portion>> portions_;         ///< of each, in the order of ranks
  std::vector<cuda::ParticleRange> own_;               ///< of cells that have leaves here
  cuda::DeviceArray<std::uint32_t> numbers_;           ///< of their own particles
  std::vector<cuda::DeviceArray<std::byte>> foreign_;  ///< by column; none: nothing is foreign
  std::size_t foreign_count_ = 0;
  cuda::DeviceArray<ParticleId> ids_;           ///< own ones, then foreign ones; if there are any
  std::vector<cuda::SubtreeRoot> joint_roots_;  ///< of cells that have leaves here
  cuda::DeviceRecords records_, spare_;
  std::vector<std::vector<Cell>> subtrees_;  ///< of the same
};

}  // namespace

std::vector<std::vector<Cell>> recut(const Communicator& comm, const DeviceExchange& exchange,
                                     DeviceParticles& particles, DeviceForest& forest, const Domain& domain,
                                     std::span<const std::int32_t> cells, std::int32_t targets_per_warp) {
  return Recut(comm, exchange, particles, forest, domain, cells).run(targets_per_warp);
}

}  // namespace grove
