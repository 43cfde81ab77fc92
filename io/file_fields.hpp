#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "particles/particles.hpp"

namespace grove {

/// A row of the table of fields that snapshots have (FieldInfo::input), as readers of formats need it.
struct FileField {
  FieldInfo info;
  std::size_t components;  ///< numbers per particle
  bool is_whole;           ///< whole numbers; else floats
};

/// Those of a table. for_each_row(visit): calls visit(field) for each of its rows, as for_each_field() does.
template <class Rows>
std::vector<FileField> file_fields_of(const Rows& for_each_row) {
  std::vector<FileField> fields;
  for_each_row([&](const auto& field) {
    using T = typename std::remove_cvref_t<decltype(field)>::Value;
    if (field.info.input)
      fields.push_back({field.info, std::is_same_v<T, Vec3d> ? 3 : 1, std::is_integral_v<T>});
  });
  return fields;
}

/// Those of the table of fields.
inline const std::vector<FileField>& file_fields() {
  static const std::vector<FileField> fields = file_fields_of([](auto&& visit) { for_each_field(visit); });
  return fields;
}

/// The one of a name among these; nullptr: there is none.
inline const FileField* find_field(std::span<const FileField> fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const FileField& field) { return field.info.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace grove
