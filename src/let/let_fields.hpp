#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/math/walk_views.hpp"

/// The arrays of SourceTree, by node and by particle, that travel with locally essential trees beside their
/// links. One more is a member there and a row here. An array that the trees of a run have not got is nullptr
/// in all of them, on every rank, and does not travel.
namespace grove::let_fields {

/// An array of SourceTree.
template <auto Member>
struct Field {
  using Value = std::remove_const_t<
      std::remove_pointer_t<std::remove_reference_t<decltype(std::declval<SourceTree&>().*Member)>>>;
  static_assert(std::is_trivially_copyable_v<Value>);
  static constexpr auto member = Member;
};

template <class... Fields>
struct List {
  /// Calls f(Field, i) for each, i from 0 on.
  template <class F>
  static void for_each(const F& f) {
    std::size_t i = 0;
    (f(Fields{}, i++), ...);
  }
  static constexpr std::size_t size = sizeof...(Fields);
};

using OfNodes = List<Field<&SourceTree::core>, Field<&SourceTree::moments>, Field<&SourceTree::boxes>>;
using OfParticles = List<Field<&SourceTree::particles>, Field<&SourceTree::types>>;

}  // namespace grove::let_fields
