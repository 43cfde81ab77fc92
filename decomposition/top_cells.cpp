#include "decomposition/top_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/errors.hpp"
#include "decomposition/cut_search.hpp"
#include "decomposition/services/all.hpp"

namespace grove {
namespace {

using Indices = std::vector<std::int32_t>;

class Master {
 public:
  Master(ProcessorSetTree& tree, const DecompositionParameters& parameters, const CutScheme& scheme,
         const Shares& shares, Count most_delegated, DecompositionReport& report)
      : tree_(tree),
        parameters_(parameters),
        scheme_(scheme),
        shares_(shares),
        most_delegated_(most_delegated),
        report_(report) {}

  std::vector<Cell> cut(const Cell& root) {
    tree_.call<services::Init>({{0}});
    cells_ = {root};
    before_ = {0};
    std::size_t depth = 0;
    for (Indices level{0}; !level.empty();) {
      const auto time = report_.levels.time(level_name(depth++));
      const Indices wanted = to_be_cut(level);
      std::vector<CutQuestion> questions = make_axes(wanted);
      find_cuts(tree_, {parameters_.method, parameters_.candidates}, questions, greatest_id_, report_);
      level = partition(questions);
    }
    return std::move(cells_);
  }

 private:
  Cell& cell(std::int32_t index) { return cells_[static_cast<std::size_t>(index)]; }
  bool is_leaf(const Cell& c) const { return scheme_.is_leaf(c.count, c.leaves); }

  Indices to_be_cut(const Indices& level) {
    Indices wanted;
    std::copy_if(level.begin(), level.end(), std::back_inserter(wanted),
                 [this](std::int32_t c) { return is_wanted(cell(c), before_[static_cast<std::size_t>(c)]); });
    return wanted;
  }
  bool is_wanted(const Cell& c, Count before) const {
    if (is_leaf(c)) return false;
    return parameters_.schedule == Schedule::master ||
           (!c.is_whole(scheme_.domain_cell) && c.count > most_delegated_ &&
            shares_.straddles(before, c.weight));
  }

  /// The particles of so many cells at once are counted by bins, which saves a round; of more the answers, 2
  /// KiB a cell, would take longer than that.
  static constexpr std::size_t most_by_bins = 4096;

  std::vector<CutQuestion> make_axes(const Indices& wanted) {
    if (wanted.empty()) return {};
    std::vector<AxisChoice> input;
    for (const auto c : wanted) {
      const int axis = scheme_.axis(cell(c).low, cell(c).high, cell(c).count);
      const Coordinate low = cell(c).low[axis], high = cell(c).high[axis];
      const bool by_bins = parameters_.method == CutMethod::histogram && wanted.size() <= most_by_bins;
      input.push_back({c, axis, scheme_.needs_middle() ? scheme_.middle(low, high, cell(c).count) : 0,
                       by_bins ? MiddleBins::shift_for(high - low) : -1});
    }
    const std::vector<Count> answer = tree_.call<services::MakeAxis>(input);
    std::span<const Count> rest(answer);
    std::vector<CutQuestion> questions;
    for (const AxisChoice& choice : input) {
      questions.push_back(question(choice, rest.first(choice.answers())));
      rest = rest.subspan(choice.answers());
    }
    return questions;
  }

  CutQuestion question(const AxisChoice& choice, std::span<const Count> answer) {
    const Cell& c = cell(choice.cell);
    CutQuestion q{};
    q.cell = choice.cell;
    q.axis = choice.axis;
    q.low = c.low[choice.axis];
    q.high = c.high[choice.axis];
    q.all = {c.count, c.weight};
    q.middle = choice.middle;
    q.left_of_middle = answer[0];
    q.target = scheme_.target(c.count, c.weight, c.leaves, q.left_of_middle);
    q.bins = {choice.middle, choice.bins_shift};
    q.in_bins.assign(answer.begin() + 1, answer.end());
    return q;
  }

  /// Returns the new cells.
  Indices partition(const std::vector<CutQuestion>& questions) {
    if (questions.empty()) return {};
    std::vector<CellDivision> input;
    Indices children;
    for (const CutQuestion& q : questions) {
      check(q);
      const auto child = static_cast<std::int32_t>(cells_.size());
      input.push_back({q.cut, q.cell, child});
      add_children(q);
      children.insert(children.end(), {child, child + 1});
    }
    const auto answer = tree_.call<services::Partition>(input);
    for (std::size_t i = 0; i < questions.size(); ++i) {
      cell(questions[i].cell).cut = questions[i].cut;
      cell(questions[i].cell).cut.id = answer[i].first_right;
      fill_children(cell(questions[i].cell), answer[i]);
    }
    return children;
  }

  void fill_children(const Cell& parent, const DivisionResult& result) {
    Cell &left = cell(parent.child), &right = cell(parent.child + 1);
    left.count = result.left.count;
    left.weight = result.left.weight;
    left.low = result.left_bounds.low;
    left.high = result.left_bounds.high;
    right.count = parent.count - left.count;
    right.weight = parent.weight - left.weight;
    right.low = result.right_bounds.low;
    right.high = result.right_bounds.high;
    before_[static_cast<std::size_t>(parent.child) + 1] += left.weight;
  }

  void add_children(const CutQuestion& q) {
    const Cell parent = cell(q.cell);
    cell(q.cell).child = static_cast<std::int32_t>(cells_.size());
    const auto leaves = scheme_.child_leaves(parent.leaves, parent.count, q.left);
    Cell left, right;
    left.first = parent.first;
    left.first_leaf = parent.first_leaf;
    left.leaves = leaves.left;
    right.first = parent.first + q.left;
    right.first_leaf = parent.first_leaf + left.leaves;
    right.leaves = leaves.right;
    cells_.insert(cells_.end(), {left, right});
    before_.insert(before_.end(), 2, before_[static_cast<std::size_t>(q.cell)]);
  }

  /// Particles of one coordinate and one id cannot be told apart, so they cannot be cut as asked.
  static void check(const CutQuestion& q) {
    if (q.left < q.target.least || q.left > q.target.most)
      throw InputError(fmt::format("particle id {} occurs more than once: ids must be unique", q.cut.id));
  }

  ProcessorSetTree& tree_;
  const DecompositionParameters& parameters_;
  const CutScheme& scheme_;
  const Shares& shares_;
  Count most_delegated_;
  DecompositionReport& report_;
  std::vector<Cell> cells_;
  std::vector<Count> before_;  ///< by cell: the weight to its left
  std::optional<ParticleId> greatest_id_;
};

}  // namespace

std::vector<Cell> cut_together(ProcessorSetTree& tree, const DecompositionParameters& parameters,
                               const CutScheme& scheme, const Shares& shares, Count most_delegated,
                               const Cell& root, DecompositionReport& report) {
  return Master(tree, parameters, scheme, shares, most_delegated, report).cut(root);
}

}  // namespace grove
