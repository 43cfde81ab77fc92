#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/particles/in_parts.hpp"
#include "kernels/cuda/particles/particle_steps.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The particles of one rank in the memory of its GPU: some or all fields of the table, each an array.
class DeviceParticles {
 public:
  struct Column {
    FieldInfo info;
    std::size_t element_size;             ///< bytes
    cuda::DeviceArray<std::byte> values;  ///< size() elements; see leave_in_parts()
    cuda::DeviceArray<std::byte> rest;    ///< elements behind these, until reorder()
  };

  /// Uninitialised particles with these fields.
  template <class... T>
  explicit DeviceParticles(std::size_t size, const Field<T>&... fields)
      : columns_(sizeof...(T)), size_(size) {
    std::size_t next = 0;
    ((columns_[next].info = fields.info, columns_[next].element_size = sizeof(T),
      columns_[next].values = cuda::DeviceArray<std::byte>(size * sizeof(T)), ++next),
     ...);
  }
  /// A copy of the host's, with all fields.
  explicit DeviceParticles(const Particles& particles);

  std::size_t size() const { return size_; }
  /// Particles::has_gas.
  bool has_gas() const { return has_gas_; }
  /// The array of a field, size() elements; nullptr if there are no particles or the field is not held.
  template <class T>
  T* values(const Field<T>& field) const {
    for (const Column& column : columns_) {
      if (column.info.name != field.info.name) continue;
      if (column.rest.size() > 0) throw std::logic_error("a field in two parts is not in order yet");
      return reinterpret_cast<T*>(column.values.data());
    }
    return nullptr;
  }
  /// The same of a field in one part or two.
  template <class T>
  cuda::InParts<T> in_parts(const Field<T>& field) const {
    for (const Column& column : columns_)
      if (column.info.name == field.info.name)
        return {reinterpret_cast<const T*>(column.values.data()), column.values.size() / sizeof(T),
                reinterpret_cast<const T*>(column.rest.data())};
    return {nullptr, 0};
  }
  std::span<Column> columns() { return columns_; }
  std::span<const Column> columns() const { return columns_; }
  /// After all columns were given arrays of this length.
  void set_size(std::size_t size) { size_ = size; }

  /// Columns have other numbers of elements than this now, in one part or two; reorder() will pick so many.
  /// Until then nothing else is to be done with fields, but for reading those in one part, and all by
  /// in_parts(). Those without elements come uninitialised.
  void leave_in_parts(std::size_t size) { size_ = size; }

  /// Element i of every field becomes what was element order[i] (device, size()), counted through values and
  /// then rest. Cost: one gather per field, one field's memory on top.
  void reorder(const std::uint32_t* order);

  /// A copy of these fields for the host, and of the positions; those that are not held are 0. The arrays of
  /// all others are empty.
  Particles download(const FieldChoice& chosen = {}) const;

 private:
  std::vector<Column> columns_;
  std::size_t size_;
  bool has_gas_ = false;
};

/// The fields that steps read and write.
cuda::StepFields step_fields(const DeviceParticles& particles);

}  // namespace grove
