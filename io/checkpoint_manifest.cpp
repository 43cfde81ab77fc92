#include "io/checkpoint_manifest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/errors.hpp"
#include "io/checksum.hpp"
#include "io/file.hpp"
#include "io/schema.hpp"
#include "particles/field.hpp"

namespace grove {
namespace {

using nlohmann::json;

/// Sections and parameters that say nothing about forces and steps.
constexpr std::array<std::string_view, 9> free_names = {"time.end",
                                                        "decomposition.method",
                                                        "decomposition.schedule",
                                                        "decomposition.transport",
                                                        "output.",
                                                        "audit.",
                                                        "checkpoint.",
                                                        "limits.",
                                                        "log."};

bool is_fixed(const std::string& name) {
  return std::none_of(free_names.begin(), free_names.end(), [&](std::string_view known) {
    return known.ends_with('.') ? name.starts_with(known) : name == known;
  });
}

/// Bytes that JSON might not take, as it does not take every name of a file.
std::string in_ascii(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (const auto byte = static_cast<unsigned char>(c); byte < 0x80)
      result += c;
    else
      result += fmt::format("\\x{:02x}", byte);
  return result;
}

json json_of(const UnitNames& names) {
  return {{"length", names.length}, {"mass", names.mass}, {"velocity", names.velocity}, {"time", names.time}};
}

json json_of(const CheckpointManifest& m) {
  json pieces = json::array();
  for (const CheckpointPiece& piece : m.pieces)
    pieces.push_back(
        {{"name", piece.name}, {"size", piece.size}, {"checksum", piece.checksum}, {"leaves", piece.leaves}});
  return {{"format", checkpoint_format},
          {"grove", m.grove},
          {"instruction_set", m.instruction_set},
          {"backend", m.backend},
          {"step", m.step},
          {"time", m.time},
          {"time_text", m.time_text},
          {"shown", json_of(m.shown)},
          {"particles", m.particles},
          {"leaves", m.leaves},
          {"parameters", m.parameters},
          {"pieces", pieces}};
}

CheckpointManifest manifest_of(const json& j) {
  CheckpointManifest m;
  j.at("grove").get_to(m.grove);
  j.at("instruction_set").get_to(m.instruction_set);
  j.at("backend").get_to(m.backend);
  j.at("step").get_to(m.step);
  j.at("time").get_to(m.time);
  j.at("time_text").get_to(m.time_text);
  const json& shown = j.at("shown");
  m.shown = {shown.at("length"), shown.at("mass"), shown.at("velocity"), shown.at("time")};
  j.at("particles").get_to(m.particles);
  j.at("leaves").get_to(m.leaves);
  j.at("parameters").get_to(m.parameters);
  for (const json& p : j.at("pieces"))
    m.pieces.push_back({p.at("name"), p.at("size"), p.at("checksum"), p.at("leaves")});
  return m;
}

}  // namespace

std::string text_of(const CheckpointManifest& manifest) {
  const json content = json_of(manifest);
  return json{{"checksum", checksum(content.dump())}, {"manifest", content}}.dump(1) + "\n";
}

std::string read_manifest(const std::string& folder) {
  const std::string path = manifest_of_checkpoint(folder);
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw InputError(fmt::format(
        "{}: is not there; a checkpoint is a folder like OUTPUT/checkpoints/step_000012288, with this in it",
        path));
  return read_text(path);
}

CheckpointManifest parse_manifest(const std::string& text, const std::string& path) {
  try {
    const json file = json::parse(text), content = file.at("manifest");
    if (file.at("checksum") != checksum(content.dump()))
      throw InputError(path + ": is damaged: its checksum is not that of its content");
    if (content.at("format") != checkpoint_format)
      throw InputError(fmt::format(
          "{}: is of format {}; this version of Grove reads format {}: go on with the version that wrote it, "
          "{}",
          path, content.at("format").dump(), checkpoint_format, content.at("grove").get<std::string>()));
    return manifest_of(content);
  } catch (const json::exception&) {
    throw InputError(path + ": is damaged or cut short");
  }
}

std::string manifest_of_checkpoint(const std::string& folder) { return folder + "/manifest.json"; }

void check_piece(const std::string& folder, const CheckpointPiece& piece) {
  const std::string path = folder + "/" + piece.name;
  const FileSum found = checksum_of_file(path);
  if (found.size != piece.size)
    throw InputError(fmt::format("{}: is damaged: it has {} bytes, and was written with {}", path, found.size,
                                 piece.size));
  if (found.checksum != piece.checksum)
    throw InputError(
        fmt::format("{}: is damaged: its checksum is {}, and was {}", path, found.checksum, piece.checksum));
}

CheckpointManifest check_checkpoint(const std::string& folder) {
  const std::string path = manifest_of_checkpoint(folder);
  CheckpointManifest manifest = parse_manifest(read_manifest(folder), path);
  for (const CheckpointPiece& piece : manifest.pieces) check_piece(folder, piece);
  return manifest;
}

std::map<std::string, std::string> fixed_parameters(const Parameters& parameters) {
  std::map<std::string, std::string> fixed;
  Parameters all = parameters;
  all.softened = all_types;  // a map from more types changes nothing if the particles have no such type
  complete_spectrum(all.cosmology);  // manifests hold the values of a preset
  for (const schema::Row& row : schema::rows_of(all))
    if (is_fixed(row.name())) fixed[row.name()] = in_ascii(schema::text_of(row, all));
  return fixed;
}

void require_same(const std::map<std::string, std::string>& before,
                  const std::map<std::string, std::string>& now, const std::string& where,
                  const DisplayUnits& shown) {
  const auto text_of = [&](const std::string& name, const std::string& value) {
    double number = 0;
    const char* const end = value.data() + value.size();
    const auto row = std::ranges::find(schema::rows(), name, &schema::Row::name);
    if (row == schema::rows().end() || row->section == "units" || row->dimension == dimension::none ||
        value.empty() || std::from_chars(value.data(), end, number).ptr != end)
      return value.empty() ? "not given" : value;
    return shown.text(number, row->dimension);
  };
  std::map<std::string, std::string> all = fixed_parameters(Parameters{});
  for (const auto& [name, was] : before) all[name] = was;
  std::vector<std::string> changes;
  for (const auto& [name, was] : all) {
    const auto found = now.find(name);
    const std::string is = found == now.end() ? "" : found->second;
    if (was != is)
      changes.push_back(fmt::format("{} was {} and is now {}", name, text_of(name, was), text_of(name, is)));
  }
  if (!changes.empty())
    throw InputError(fmt::format(
        "{}: {}; a run goes on with what it began with: set back what has changed, or start another run from "
        "a snapshot of this one (initial_conditions.file) in another output.folder",
        where, fmt::join(changes, ", ")));
}

}  // namespace grove
