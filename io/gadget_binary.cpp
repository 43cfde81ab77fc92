// GADGET's binary formats 1 and 2 (users' guide of GADGET-2, section 6): Fortran records, that is a marker of
// 4 bytes with the length before and after each block. Format 2 puts a record with the block's label before
// each block; in format 1 their order tells what they are.
#include <fmt/format.h>

#include <optional>

#include "base/errors.hpp"
#include "io/binary_file.hpp"

namespace grove {
namespace {

constexpr std::uint32_t header_bytes = 256;
constexpr std::int64_t wrap = std::int64_t{1} << 32;  ///< markers hold lengths modulo this

/// A block: its label ("" in format 1) and where its contents lie.
struct Block {
  std::string label;
  std::int64_t begin, size;
  std::int64_t end() const { return begin + size + 4; }
};

class GadgetBinary final : public BinaryFile {
 public:
  using BinaryFile::BinaryFile;

  bool recognise() {
    if (size() < 8) return false;
    for (const bool swapped : {false, true}) {
      header_.byte_swapped = swapped;
      const std::uint32_t first = number<std::uint32_t>(0);
      header_.format = first == header_bytes ? SnapshotFormat::gadget1 : SnapshotFormat::gadget2;
      if (first == header_bytes || (first == 8 && label_at(4) == "HEAD")) return true;
    }
    return false;
  }

  void read_blocks() {
    const Block head = block_at(0, header_bytes, "the header");
    read_header(head.begin);
    if (count() == 0) return;
    if (header_.format == SnapshotFormat::gadget1)
      read_in_order(head.end());
    else
      read_labelled(head.end());
  }

 private:
  std::string label_at(std::int64_t offset) {
    char label[4];
    bytes(offset, 4, label);
    return {label, 4};
  }

  [[noreturn]] void fail_markers(const std::string& name, std::int64_t begin) const {
    throw InputError(fmt::format(
        "{}: damaged, or its byte order changes inside: the record markers around {} at byte {} do not agree",
        path(), name, begin));
  }

  /// The block whose record (in format 2: whose label's record) begins at `offset`. `expected`: its size if
  /// that is known; else any size that its markers allow.
  Block block_at(std::int64_t offset, std::optional<std::int64_t> expected, const std::string& name) {
    Block block{"", offset + 4, 0};
    if (header_.format == SnapshotFormat::gadget2) {
      if (number<std::uint32_t>(offset) != 8 || number<std::uint32_t>(offset + 12) != 8)
        fail_markers("the label of " + name, offset);
      block.label = label_at(offset + 4);
      block.begin = offset + 20;
    }
    const std::uint32_t marker = number<std::uint32_t>(block.begin - 4);
    for (block.size = expected.value_or(marker);; block.size += wrap) {
      if (static_cast<std::uint32_t>(block.size) != marker) fail_size(name, block.size, marker);
      const std::uint32_t closing = number<std::uint32_t>(block.begin + block.size);
      if (closing == marker) return block;
      if (expected || block.end() + wrap > size()) fail_markers(name, block.begin);
    }
  }

  [[noreturn]] void fail_size(const std::string& name, std::int64_t expected, std::uint32_t marker) const {
    throw InputError(fmt::format("{}: damaged: {} should have {} bytes, its record marker says {}", path(),
                                 name, expected, marker));
  }

  void read_header(std::int64_t at) {
    for (std::int64_t t = 0; t < particle_types; ++t) {
      const auto i = static_cast<std::size_t>(t);
      header_.counts[i] = number<std::int32_t>(at + 4 * t);
      if (header_.counts[i] < 0)
        throw InputError(
            fmt::format("{}: damaged: its header has {} particles of type {}", path(), header_.counts[i], t));
      header_.mass_table[i] = number<double>(at + 24 + 8 * t);
      header_.total[i] = number<std::uint32_t>(at + 96 + 4 * t) +
                         (static_cast<Count>(number<std::uint32_t>(at + 168 + 4 * t)) << 32);
    }
    header_.time = number<double>(at + 72);
    header_.redshift = number<double>(at + 80);
    header_.box_size = Vec3d{1, 1, 1} * number<double>(at + 128);
    header_.files = number_of_files(number<std::int32_t>(at + 124), path());
    header_.comoving = comoving_signs(header_.redshift, header_.time, number<double>(at + 152));
    // Many writers of initial conditions leave the total of a single file unset.
    if (header_.files == 1) header_.total = header_.counts;
  }

  Count count() const {
    Count sum = 0;
    for (const Count c : header_.counts) sum += c;
    return sum;
  }
  bool has_own_mass(std::size_t type) const { return header_.mass_table[type] == 0; }
  Count count_with_own_mass() const {
    Count sum = 0;
    for (std::size_t t = 0; t < header_.counts.size(); ++t)
      if (has_own_mass(t)) sum += header_.counts[t];
    return sum;
  }

  /// Size of a block of `numbers` numbers at `offset`: that of its marker if that means 4 or 8 bytes each.
  std::int64_t size_of_numbers(std::int64_t offset, Count numbers, const std::string& name) {
    const std::int64_t at = header_.format == SnapshotFormat::gadget2 ? offset + 16 : offset;
    const std::uint32_t marker = number<std::uint32_t>(at);
    for (const Count bytes : {4, 8})
      if (static_cast<std::uint32_t>(numbers * bytes) == marker && at + 8 + numbers * bytes <= size())
        return numbers * bytes;
    if (at + 8 + numbers * 4 > size())
      throw InputError(fmt::format("{}: cut short: has {} bytes, {} asks for at least {}", path(), size(),
                                   name, at + 8 + numbers * 4));
    fail_size(name, numbers * 4, marker);
  }

  /// Notes where the property lies for each type that has it; returns where the next block begins.
  std::int64_t read_property(std::int64_t offset, Property property, const char* name) {
    const Count width = static_cast<Count>(components(property));
    const Count particles = property == Property::mass ? count_with_own_mass() : count();
    const std::int64_t bytes = size_of_numbers(offset, particles * width, name);
    const Block block = block_at(offset, bytes, name);
    const bool wide = particles > 0 && bytes == particles * width * 8;
    const NumberType number = property == Property::id ? (wide ? NumberType::uint64 : NumberType::uint32)
                                                       : (wide ? NumberType::float64 : NumberType::float32);
    const std::int64_t stride = width * bytes_of(number);
    std::int64_t begin = block.begin;
    for (std::size_t t = 0; t < header_.counts.size(); ++t) {
      if (header_.counts[t] == 0 || (property == Property::mass && !has_own_mass(t))) continue;
      columns_[{static_cast<int>(t), property}] = {begin, stride, number};
      header_.fields.push_back({static_cast<int>(t), name, name_of(number)});
      begin += header_.counts[t] * stride;
    }
    return block.end();
  }

  void read_in_order(std::int64_t offset) {
    offset = read_property(offset, Property::position, "POS");
    offset = read_property(offset, Property::velocity, "VEL");
    header_.has_ids = offset < size();
    if (header_.has_ids) offset = read_property(offset, Property::id, "ID");
    if (count_with_own_mass() > 0) {
      if (offset >= size()) fail_missing("MASS");
      offset = read_property(offset, Property::mass, "MASS");
    }
    for (int block = header_.has_ids ? 4 : 3; offset < size(); ++block)
      offset = block_at(offset, std::nullopt, fmt::format("block {} after the header", block)).end();
  }

  void read_labelled(std::int64_t offset) {
    bool has_position = false, has_velocity = false, has_mass = count_with_own_mass() == 0;
    header_.has_ids = false;
    while (offset < size()) {
      const std::string label = label_at(offset + 4);
      if (label == "POS ")
        offset = read_property(offset, Property::position, "POS"), has_position = true;
      else if (label == "VEL ")
        offset = read_property(offset, Property::velocity, "VEL"), has_velocity = true;
      else if (label == "ID  ")
        offset = read_property(offset, Property::id, "ID"), header_.has_ids = true;
      else if (label == "MASS" && count_with_own_mass() > 0)
        offset = read_property(offset, Property::mass, "MASS"), has_mass = true;
      else
        offset = block_at(offset, std::nullopt, "block '" + label + "'").end();
    }
    if (!has_position) fail_missing("POS");
    if (!has_velocity) fail_missing("VEL");
    if (!has_mass) fail_missing("MASS");
  }

  [[noreturn]] void fail_missing(const std::string& name) const {
    throw InputError(fmt::format(
        "{}: no block {}{}", path(), name,
        name == "MASS" ? ", and the header's mass table has no mass for some type with particles" : ""));
  }
};

}  // namespace

std::unique_ptr<SnapshotFile> open_gadget_binary(const std::string& path) {
  auto file = std::make_unique<GadgetBinary>(path);
  if (!file->recognise()) return nullptr;
  file->read_blocks();
  return file;
}

}  // namespace grove
