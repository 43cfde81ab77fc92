#pragma once

#include <map>
#include <optional>

namespace grove {

/// When selections of locally essential trees are kept from one walk to the next. All ranks decide alike.
///
/// It pays if trees keep their shape for long. The first walks of a kind (kind_of()) through new trees get
/// what they open. Then, or at once if the trees before have lived that long, ranks select with room for
/// drift. Walks after that get the values of the same cells, nodes and particles alone: nobody says what he
/// wants, and all lengths are known. If active groups have left what was told of them, all ranks select anew,
/// with more room where that was. What nodes have grown beyond, walks find (OpensPruned), and then ranks
/// exchange exactly what walks open. Selections of three kinds at most are kept, those from the deepest rungs
/// on, which most steps are of.
class LetKeeping {
 public:
  struct Rule {
    /// For the drift of particles, over the size of groups (ToldTargets). Less than zero, in tests: too
    /// little.
    float room = 0.125F;
    /// Selections with room are kept from this many walks of a kind through trees of one shape on. They are
    /// half as large again, so a few walks are not worth it. The number doubles each time that selections of
    /// a kind are given up, as too many groups leave their room.
    int least_walks = 4;
  };
  /// From the next exchange on. The same on all ranks.
  void set_rule(Rule rule) { rule_ = rule; }
  /// For the drift of groups; the radii of cells have half of it.
  float room() const { return rule_.room; }

  /// How often ranks have exchanged trees: exactly what walks open; selected with room for drift; or the
  /// values of selections of before.
  struct Counts {
    int exact = 0, with_room = 0, kept = 0;
  };
  const Counts& counts() const { return counts_; }

  enum class Wish { keep, exact, again };  ///< again: after a walk with kept selections lacked something
  /// Walks from some rung on that leave far cells of a periodic box out, or not: such ones need other parts
  /// of trees. The deeper the rung, the larger.
  static constexpr int kind_of(int first_active, bool expands_far) {
    return 2 * first_active + (expands_far ? 1 : 0);
  }
  /// Begins an exchange for walks of a kind. Returns whether selections are to have room for drift.
  bool begin(int kind, Wish wish);
  /// Ends the exchange. is_kept: values alone have travelled. Returns a kind whose selections are to be
  /// freed.
  std::optional<int> end(bool is_kept);
  /// The trees have other shapes or owners from now on.
  void forget();

 private:
  struct OfKind {
    int walks = 0;              ///< since trees were new
    int renewed = 0, used = 0;  ///< selections since
    bool is_given_up = false;
    bool has_room = false;  ///< selections are kept
  };
  bool may_keep(int kind) const;
  void give_up(int kind);

  Rule rule_;
  Counts counts_;
  std::map<int, OfKind> of_kind_;
  std::map<int, int> walks_before_;  ///< of each kind, through the trees before
  std::map<int, int> least_walks_;   ///< of each kind that selections were given up of
  int kind_ = 0;
  OfKind* now_ = nullptr;
  bool keeps_ = false;
};

}  // namespace grove
