#include "io/binary_file.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "base/errors.hpp"

namespace grove {
namespace {

constexpr std::int64_t piece_bytes = 16 << 20;

}  // namespace

std::string name_of(NumberType type) {
  switch (type) {
    case NumberType::float32:
      return "float32";
    case NumberType::float64:
      return "float64";
    case NumberType::uint32:
      return "uint32";
    default:
      return "uint64";
  }
}

BinaryFile::BinaryFile(const std::string& path) : path_(path), file_(path, std::ios::binary | std::ios::ate) {
  if (!file_) throw InputError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  size_ = static_cast<std::int64_t>(file_.tellg());
}

void BinaryFile::bytes(std::int64_t offset, std::int64_t count, void* out) {
  if (offset < 0 || offset + count > size_)
    throw InputError(fmt::format("{}: cut short: has {} bytes, its contents ask for at least {}", path_,
                                 size_, offset + count));
  file_.seekg(offset);
  if (!file_.read(static_cast<char*>(out), count))
    throw InputError(fmt::format("{}: cannot be read at byte {}", path_, offset));
}

template <class In, class Out>
void BinaryFile::decode(const char* raw, std::int64_t stride, std::size_t components, Count count,
                        Out* out) const {
  for (Count i = 0; i < count; ++i)
    for (std::size_t c = 0; c < components; ++c)
      *out++ = static_cast<Out>(decoded<In>(raw + i * stride + static_cast<std::int64_t>(c * sizeof(In))));
}

template <class Out>
void BinaryFile::read_column(const Column& column, Count first, Count count, Out* out) {
  const std::size_t components = column.components;
  const Count piece = std::max<Count>(1, piece_bytes / column.stride);
  const std::int64_t used = static_cast<std::int64_t>(components) * bytes_of(column.number);
  std::vector<char> raw;
  for (Count done = 0; done < count; done += piece) {
    const Count now = std::min(piece, count - done);
    raw.resize(static_cast<std::size_t>((now - 1) * column.stride + used));
    bytes(column.offset + (first + done) * column.stride, static_cast<std::int64_t>(raw.size()), raw.data());
    Out* target = out + static_cast<std::size_t>(done) * components;
    switch (column.number) {
      case NumberType::float32:
        decode<float>(raw.data(), column.stride, components, now, target);
        break;
      case NumberType::float64:
        decode<double>(raw.data(), column.stride, components, now, target);
        break;
      case NumberType::uint32:
        decode<std::uint32_t>(raw.data(), column.stride, components, now, target);
        break;
      case NumberType::uint64:
        decode<std::uint64_t>(raw.data(), column.stride, components, now, target);
        break;
    }
  }
}

template void BinaryFile::read_column(const Column&, Count, Count, double*);
template void BinaryFile::read_column(const Column&, Count, Count, std::uint64_t*);

}  // namespace grove
