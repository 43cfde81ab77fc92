// GADGET's binary formats 1 and 2 (users' guide of GADGET-2, section 6): Fortran records, that is a marker of
// 4 bytes with the length before and after each block. Format 2 puts a record with the block's label before
// each block; in format 1 their order tells what they are.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/errors.hpp"
#include "base/how_many.hpp"
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

/// The blocks that are read, in the order that format 1 has them in: label, and FieldInfo::name.
struct KnownBlock {
  const char *label, *name;
  std::string_view field;
};
constexpr std::array<KnownBlock, 5> known_blocks{{{"POS ", "POS", fields::position.info.name},
                                                  {"VEL ", "VEL", fields::velocity.info.name},
                                                  {"ID  ", "ID", fields::id.info.name},
                                                  {"MASS", "MASS", fields::mass.info.name},
                                                  {"U   ", "U", fields::internal_energy.info.name}}};

class GadgetBinary final : public BinaryFile {
 public:
  GadgetBinary(const std::string& path, std::span<const FileField> fields)
      : BinaryFile(path), fields_(fields) {}

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
        throw InputError(fmt::format("{}: damaged: its header has {} of type {}", path(),
                                     how_many(header_.counts[i], "particle"), t));
      header_.mass_table[i] = number<double>(at + 24 + 8 * t);
      header_.total[i] = number<std::uint32_t>(at + 96 + 4 * t) +
                         (static_cast<Count>(number<std::uint32_t>(at + 168 + 4 * t)) << 32);
    }
    header_.time = number<double>(at + 72);
    header_.redshift = number<double>(at + 80);
    header_.box_size = Vec3d{1, 1, 1} * number<double>(at + 128);
    header_.files = number_of_files(number<std::int32_t>(at + 124), path());
    header_.omega_matter = number<double>(at + 136);
    header_.omega_lambda = number<double>(at + 144);
    header_.h = number<double>(at + 152);
    header_.comoving = comoving_signs(header_.redshift, header_.time, header_.h);
    // Many writers of initial conditions leave the total of a single file unset.
    if (header_.files == 1) header_.total = header_.counts;
  }

  Count count() const {
    Count sum = 0;
    for (const Count c : header_.counts) sum += c;
    return sum;
  }
  /// True if the block of a field has particles of a type.
  bool is_in_block(const FileField& field, std::size_t type) const {
    const bool is_in_header = field.info.name == fields::mass.info.name && header_.mass_table[type] != 0;
    return header_.counts[type] > 0 && field.info.is_of(type) && !is_in_header;
  }
  /// The particles that a block has: 0 for fields that are not read.
  Count count_in(const KnownBlock& block) const {
    const FileField* const field = find_field(fields_, block.field);
    Count sum = 0;
    for (std::size_t t = 0; field && t < header_.counts.size(); ++t)
      if (is_in_block(*field, t)) sum += header_.counts[t];
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

  /// Notes where a block that has particles lies, for each type that is in it; returns where the next block
  /// begins.
  std::int64_t read_block(std::int64_t offset, const KnownBlock& known) {
    const FileField& field = *find_field(fields_, known.field);
    const Count width = static_cast<Count>(field.components), particles = count_in(known);
    const std::int64_t bytes = size_of_numbers(offset, particles * width, known.name);
    const Block block = block_at(offset, bytes, known.name);
    const bool wide = bytes == particles * width * 8;
    const NumberType number = field.is_whole ? (wide ? NumberType::uint64 : NumberType::uint32)
                                             : (wide ? NumberType::float64 : NumberType::float32);
    const std::int64_t stride = width * bytes_of(number);
    std::int64_t begin = block.begin;
    for (std::size_t t = 0; t < header_.counts.size(); ++t) {
      if (!is_in_block(field, t)) continue;
      columns_[{static_cast<int>(t), known.field}] = {field.components, begin, stride, number};
      header_.fields.push_back({static_cast<int>(t), known.name, name_of(number)});
      begin += header_.counts[t] * stride;
    }
    return block.end();
  }

  void read_in_order(std::int64_t offset) {
    int block = 1;
    for (const KnownBlock& known : known_blocks) {
      if (count_in(known) == 0) continue;
      if (offset >= size())
        lacks(known);
      else
        offset = read_block(offset, known), ++block;
    }
    for (; offset < size(); ++block)
      offset = block_at(offset, std::nullopt, fmt::format("block {} after the header", block)).end();
  }

  void read_labelled(std::int64_t offset) {
    std::array<bool, known_blocks.size()> is_there{};
    while (offset < size()) {
      const std::string label = label_at(offset + 4);
      const auto known = std::find_if(known_blocks.begin(), known_blocks.end(),
                                      [&](const KnownBlock& block) { return block.label == label; });
      if (known == known_blocks.end() || count_in(*known) == 0) {
        offset = block_at(offset, std::nullopt, "block '" + label + "'").end();
      } else {
        offset = read_block(offset, *known);
        is_there[static_cast<std::size_t>(known - known_blocks.begin())] = true;
      }
    }
    for (std::size_t b = 0; b < known_blocks.size(); ++b)
      if (!is_there[b] && count_in(known_blocks[b]) > 0) lacks(known_blocks[b]);
  }

  /// Only ids and fields of gas may be missing.
  void lacks(const KnownBlock& block) {
    if (find_field(fields_, block.field)->info.of_gas) return;
    if (block.field != fields::id.info.name) fail_missing(block.name);
    header_.has_ids = false;
  }

  [[noreturn]] void fail_missing(const std::string& name) const {
    throw InputError(fmt::format(
        "{}: no block {}{}", path(), name,
        name == "MASS" ? ", and the header's mass table has no mass for some type with particles" : ""));
  }

  std::span<const FileField> fields_;
};

}  // namespace

std::unique_ptr<SnapshotFile> open_gadget_binary(const std::string& path, std::span<const FileField> fields) {
  auto file = std::make_unique<GadgetBinary>(path, fields);
  if (!file->recognise()) return nullptr;
  file->read_blocks();
  return file;
}

}  // namespace grove
