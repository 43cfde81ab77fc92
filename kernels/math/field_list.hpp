#pragma once

#include <cstddef>
#include <type_traits>

namespace grove {

/// An array of which a struct has a pointer, as a type. Member: the pointer's member pointer.
template <auto Member>
struct ArrayField;
template <class Struct, class T, T* Struct::*Member>
struct ArrayField<Member> {
  using Value = std::remove_const_t<T>;
  static_assert(std::is_trivially_copyable_v<Value>);
  static constexpr auto member = Member;
};

/// Arrays that are treated alike, each named once. All are of the same length.
template <class... Fields>
struct FieldList {
  static constexpr std::size_t size = sizeof...(Fields);

  /// Calls f(ArrayField, i) for each, i from 0 on.
  template <class F>
  static void for_each(const F& f) {
    std::size_t i = 0;
    (f(Fields{}, i++), ...);
  }
};

}  // namespace grove
