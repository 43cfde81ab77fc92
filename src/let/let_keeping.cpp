#include "let/let_keeping.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace grove {
namespace {

constexpr std::ptrdiff_t most_kept_kinds = 3;
/// Groups do not grow by more than their size before trees are renewed.
constexpr float most_room = 1;
constexpr int most_walks = 1 << 20;
/// Selections that are renewed so much more often than they are used are given up until trees are new.
constexpr int most_in_vain = 1;

}  // namespace

bool LetKeeping::begin(int kind, Wish wish) {
  kind_ = kind;
  now_ = &of_kind_[kind];
  if (wish == Wish::again) {
    rule_.room = std::clamp(2 * rule_.room, -most_room, most_room);
    give_up(kind);
  } else {
    ++now_->walks;
  }
  keeps_ = wish == Wish::keep && may_keep(kind);
  if (!keeps_) now_->has_room = false;
  return keeps_;
}

bool LetKeeping::may_keep(int kind) const {
  const auto before = walks_before_.find(kind);
  const int walks = std::max(now_->walks - 1, before == walks_before_.end() ? 0 : before->second);
  const auto least = least_walks_.find(kind);
  if (walks < (least == least_walks_.end() ? rule_.least_walks : least->second) || now_->is_given_up)
    return false;
  return std::count_if(of_kind_.begin(), of_kind_.end(), [&](const auto& other) {
           return other.first > kind && other.second.has_room;
         }) < most_kept_kinds;
}

/// Until trees are new, and those after them must see more walks of this kind.
void LetKeeping::give_up(int kind) {
  if (std::exchange(now_->is_given_up, true)) return;
  int& least = least_walks_.try_emplace(kind, rule_.least_walks).first->second;
  least = std::min(2 * least, most_walks);
}

std::optional<int> LetKeeping::end(bool is_kept) {
  ++(is_kept ? counts_.kept : keeps_ ? counts_.with_room : counts_.exact);
  if (!keeps_) return {};
  now_->has_room = true;
  ++(is_kept ? now_->used : now_->renewed);
  if (now_->renewed > now_->used + most_in_vain) give_up(kind_);
  const auto is_kept_of = [](const auto& other) { return other.second.has_room; };
  if (std::count_if(of_kind_.begin(), of_kind_.end(), is_kept_of) <= most_kept_kinds) return {};
  const auto lowest = std::find_if(of_kind_.begin(), of_kind_.end(), is_kept_of);
  lowest->second.has_room = false;
  return lowest->first;
}

void LetKeeping::forget() {
  if (of_kind_.empty()) return;
  walks_before_.clear();
  for (const auto& [kind, of_kind] : of_kind_) walks_before_[kind] = of_kind.walks;
  of_kind_.clear();
  now_ = nullptr;
}

}  // namespace grove
