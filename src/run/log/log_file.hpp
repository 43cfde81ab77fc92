#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace grove {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// A file of lines that a run appends to, in its output folder.
using LogFile = std::unique_ptr<std::FILE, CloseFile>;

/// Creates the file, replacing that of an earlier run; or, with `is_later`, goes on with it: its lines from
/// the first one on that is_later() says so of, and a last one that was cut short when the run ended, are cut
/// off. InputError: the folder does not take files.
LogFile open_log(const std::filesystem::path& path,
                 const std::function<bool(const std::string& line)>& is_later = {});

}  // namespace grove
