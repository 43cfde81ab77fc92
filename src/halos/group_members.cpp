#include "halos/group_members.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "comm/exchange_plan.hpp"

namespace grove {
namespace {

/// As many members of a group as a rank has.
struct PartOfGroup {
  ParticleId label;
  Count count;
};

std::vector<Count> counts_by_rank(const Communicator& comm, std::span<const GroupLabel> labels,
                                  std::span<const std::uint32_t> which) {
  std::vector<Count> counts(static_cast<std::size_t>(comm.size()), 0);
  for (const std::uint32_t i : which) ++counts[static_cast<std::size_t>(labels[i].rank)];
  return counts;
}

/// The own particles that are in groups of so many: each rank adds up the parts of its groups and answers.
class LargeGroups {
 public:
  /// order (in): own particles by rank and id of their labels.
  LargeGroups(const Communicator& comm, std::span<const GroupLabel> labels,
              std::span<const std::uint32_t> order) {
    std::vector<Count> parts_for(static_cast<std::size_t>(comm.size()), 0);
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      const GroupLabel& label = labels[order[begin]];
      while (end < order.size() && labels[order[end]] == label) ++end;
      parts_.push_back({label.id, static_cast<Count>(end - begin)});
      ++parts_for[static_cast<std::size_t>(label.rank)];
    }
    const ExchangePlan there(comm, parts_for);
    Array<PartOfGroup> came(static_cast<std::size_t>(there.receive_total()));
    there.apply(std::span<const PartOfGroup>(parts_), std::span<PartOfGroup>(came));
    const Array<Count> totals = totals_of(came);

    std::vector<Count> answers_for, answers_from = parts_for;
    for (std::size_t r = 0; r + 1 < there.receive_offsets().size(); ++r)
      answers_for.push_back(there.receive_offsets()[r + 1] - there.receive_offsets()[r]);
    const ExchangePlan back(comm, std::span<const Count>(answers_for), std::span<const Count>(answers_from));
    totals_.resize(parts_.size());
    back.apply(std::span<const Count>(totals), std::span<Count>(totals_));
  }

  /// Those of `order` whose group has as many members or more.
  Array<std::uint32_t> members(std::span<const std::uint32_t> order, Count least) const {
    Array<std::uint32_t> chosen;
    std::size_t begin = 0;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const auto count = static_cast<std::size_t>(parts_[part].count);
      if (totals_[part] >= least)
        chosen.insert(chosen.end(), order.begin() + static_cast<std::ptrdiff_t>(begin),
                      order.begin() + static_cast<std::ptrdiff_t>(begin + count));
      begin += count;
    }
    return chosen;
  }

 private:
  /// For each part the number of members of its whole group.
  static Array<Count> totals_of(std::span<const PartOfGroup> parts) {
    std::vector<std::size_t> by_label(parts.size());
    std::iota(by_label.begin(), by_label.end(), std::size_t{0});
    std::sort(by_label.begin(), by_label.end(),
              [&](std::size_t a, std::size_t b) { return parts[a].label < parts[b].label; });
    Array<Count> totals(parts.size());
    for (std::size_t begin = 0, end = 0; begin < by_label.size(); begin = end) {
      Count sum = 0;
      for (; end < by_label.size() && parts[by_label[end]].label == parts[by_label[begin]].label; ++end)
        sum += parts[by_label[end]].count;
      for (std::size_t i = begin; i < end; ++i) totals[by_label[i]] = sum;
    }
    return totals;
  }

  std::vector<PartOfGroup> parts_;
  Array<Count> totals_;
};

template <class T>
void reorder(Array<T>& field, std::span<const std::uint32_t> order) {
  Array<T> ordered(field.size());
  for (std::size_t i = 0; i < field.size(); ++i) ordered[i] = field[order[i]];
  field = std::move(ordered);
}

}  // namespace

GroupMembers gather_members(const Communicator& comm, const Particles& particles,
                            std::span<const GroupLabel> labels, Count least) {
  Array<std::uint32_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(labels[a].rank, labels[a].id) < std::tie(labels[b].rank, labels[b].id);
  });
  order = LargeGroups(comm, labels, order).members(order, least);

  const ExchangePlan plan(comm, counts_by_rank(comm, labels, order));
  const auto bring = [&]<class T>(Array<T>& to, const auto& value) {
    to.resize(static_cast<std::size_t>(plan.receive_total()));
    plan.apply(
        [&](std::size_t begin, std::span<T> piece) {
          for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = value(order[begin + i]);
        },
        std::span<T>(to));
  };
  GroupMembers all;
  Array<ParticleId> label;
  bring(label, [&](std::uint32_t i) { return labels[i].id; });
  bring(all.position, [&](std::uint32_t i) { return particles.position[i]; });
  bring(all.velocity, [&](std::uint32_t i) { return particles.velocity[i]; });
  bring(all.mass, [&](std::uint32_t i) { return particles.mass[i]; });
  bring(all.id, [&](std::uint32_t i) { return particles.id[i]; });
  bring(all.type, [&](std::uint32_t i) { return particles.type[i]; });

  Array<std::uint32_t> sorted(label.size());
  std::iota(sorted.begin(), sorted.end(), std::uint32_t{0});
  std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(label[a], all.type[a], all.id[a]) < std::tie(label[b], all.type[b], all.id[b]);
  });
  reorder(label, sorted);
  reorder(all.position, sorted);
  reorder(all.velocity, sorted);
  reorder(all.mass, sorted);
  reorder(all.id, sorted);
  reorder(all.type, sorted);
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (i > 0 && label[i] == label[i - 1]) continue;
    if (i > 0) all.begin.push_back(static_cast<Count>(i));
    all.label.push_back(label[i]);
  }
  if (!label.empty()) all.begin.push_back(static_cast<Count>(label.size()));
  return all;
}

}  // namespace grove
