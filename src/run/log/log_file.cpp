#include "log_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "base/errors.hpp"

namespace grove {
namespace {

/// 0: there is no such file.
std::uintmax_t length_before(const std::filesystem::path& path,
                             const std::function<bool(const std::string& line)>& is_later) {
  std::ifstream file(path, std::ios::binary);
  std::uintmax_t length = 0;
  for (std::string line; std::getline(file, line) && !file.eof() && !is_later(line);)
    length += line.size() + 1;
  return length;
}

}  // namespace

LogFile open_log(const std::filesystem::path& path,
                 const std::function<bool(const std::string& line)>& is_later) {
  const std::uintmax_t length = is_later ? length_before(path, is_later) : 0;
  std::error_code error;
  if (length > 0) std::filesystem::resize_file(path, length, error);
  LogFile file(error ? nullptr : std::fopen(path.c_str(), length > 0 ? "a" : "w"));
  if (!file && !error) error = {errno, std::generic_category()};
  if (!file)
    throw InputError(fmt::format("cannot write {}: {}; output.folder must name a folder that takes files",
                                 path.string(), error.message()));
  return file;
}

}  // namespace grove
