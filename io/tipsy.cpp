// Tipsy's binary format: a header of 28 or 32 bytes, then gas, dark matter and stars, each particle a record
// of floats. They become types 0, 1 and 4. Internal energies are temperatures (has_temperatures()).
#include <fmt/format.h>

#include "base/errors.hpp"
#include "io/binary_file.hpp"

namespace grove {
namespace {

struct Kind {
  int type;
  std::int64_t bytes;  ///< of one particle
};
constexpr std::array<Kind, 3> kinds{{{0, 48}, {1, 36}, {4, 44}}};

class Tipsy final : public BinaryFile {
 public:
  using BinaryFile::BinaryFile;

  /// True if the beginning looks like tipsy's: three dimensions, and the particles by kind add up.
  bool recognise() {
    if (size() < 28) return false;
    for (const bool swapped : {false, true}) {
      header_.byte_swapped = swapped;
      std::int64_t sum = 0;
      bool plausible = number<std::int32_t>(12) == 3;
      for (std::int64_t k = 0; k < 3; ++k) {
        const std::int32_t count = number<std::int32_t>(16 + 4 * k);
        plausible = plausible && count >= 0;
        sum += count;
      }
      if (plausible && sum == number<std::int32_t>(8)) return true;
    }
    return false;
  }

  void read_header() {
    header_.format = SnapshotFormat::tipsy;
    header_.time = number<double>(0);
    header_.has_ids = false;
    std::int64_t body = 0;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const Count count = number<std::int32_t>(16 + 4 * static_cast<std::int64_t>(k));
      header_.counts[static_cast<std::size_t>(kinds[k].type)] = count;
      body += count * kinds[k].bytes;
    }
    header_.total = header_.counts;
    if (size() != 28 + body && size() != 32 + body)
      throw InputError(fmt::format(
          "{}: damaged or cut short: has {} bytes; as tipsy its header asks for {} (or {} without padding)",
          path(), size(), 32 + body, 28 + body));
    std::int64_t offset = size() - body;
    for (const Kind& kind : kinds) {
      const Count count = header_.counts[static_cast<std::size_t>(kind.type)];
      columns_[{kind.type, fields::mass.info.name}] = {1, offset, kind.bytes, NumberType::float32};
      columns_[{kind.type, fields::position.info.name}] = {3, offset + 4, kind.bytes, NumberType::float32};
      columns_[{kind.type, fields::velocity.info.name}] = {3, offset + 16, kind.bytes, NumberType::float32};
      if (count > 0)
        for (const char* name : {"mass", "position", "velocity"})
          header_.fields.push_back({kind.type, name, "float32"});
      if (kind.type == gas_type) {
        const Column temperature{1, offset + 32, kind.bytes, NumberType::float32};  // behind density
        columns_[{kind.type, fields::internal_energy.info.name}] = temperature;
        if (count > 0) header_.fields.push_back({kind.type, "temperature", "float32"});
      }
      offset += count * kind.bytes;
    }
  }
};

}  // namespace

std::unique_ptr<SnapshotFile> open_tipsy(const std::string& path, std::span<const FileField>) {
  auto file = std::make_unique<Tipsy>(path);
  if (!file->recognise()) return nullptr;
  file->read_header();
  return file;
}

}  // namespace grove
