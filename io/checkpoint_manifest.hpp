#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "io/parameters.hpp"

namespace grove {

/// Version of everything in the folder. Another one, where any type that is stored as bytes changes
/// (src/run/checkpoint/checkpoint_layout.cpp).
inline constexpr int checkpoint_format = 20;

/// A file of a checkpoint.
struct CheckpointPiece {
  /// Leaves that follow each other, from one up to another one.
  using Leaves = std::pair<LeafNumber, LeafNumber>;

  std::string name;            ///< in the folder of the checkpoint
  std::int64_t size = 0;       ///< bytes
  std::string checksum;        ///< checksum_of_file()
  std::vector<Leaves> leaves;  ///< whose particles and trees it holds, left to right
};

/// The description of a checkpoint: the content of manifest.json, which is written last.
struct CheckpointManifest {
  std::string grove;            ///< version that wrote it
  std::string instruction_set;  ///< that it was compiled for
  std::string backend;          ///< Backend::name()
  std::int64_t step = 0;        ///< steps done, of all lengths
  double time = 0;
  std::string time_text;  ///< as it is shown to the user
  UnitNames shown;        ///< what the run shows values in, which its tables go on with
  Count particles = 0;
  LeafNumber leaves = 0;
  std::map<std::string, std::string> parameters;  ///< fixed_parameters()
  std::vector<CheckpointPiece> pieces;  ///< what all ranks know alike; then the leaves, rank by rank
};

/// The name of the first piece, which holds no leaves.
inline constexpr const char* state_file = "state.hdf5";
/// Path of the manifest in the folder of a checkpoint.
std::string manifest_of_checkpoint(const std::string& folder);

/// The text of a manifest, with a checksum of itself.
std::string text_of(const CheckpointManifest& manifest);
/// The text of the manifest of a checkpoint. InputError, that says what a checkpoint is, if there is none.
std::string read_manifest(const std::string& folder);
/// path: for messages. InputError if the text is damaged, or in the format of another version.
CheckpointManifest parse_manifest(const std::string& text, const std::string& path);

/// InputError, which names the piece, unless it is there as it was written. Cost: reads it once.
void check_piece(const std::string& folder, const CheckpointPiece& piece);
/// That of the manifest and all its pieces, by one process: whether a run can go on from a checkpoint.
CheckpointManifest check_checkpoint(const std::string& folder);

/// Parameters that a run must keep, by name, as texts: all that later forces and steps follow from. Others
/// may change: time.end, what is written, audited and limited, and how cuts are searched.
std::map<std::string, std::string> fixed_parameters(const Parameters& parameters);
/// InputError, with old and new value, if a run that began with the former was to go on with the latter. One
/// that an older version of Grove did not know counts as its default, which is what that did.
/// where: the checkpoint, for the message. shown: the units of values in it; by default those of the run.
void require_same(const std::map<std::string, std::string>& before,
                  const std::map<std::string, std::string>& now, const std::string& where,
                  const DisplayUnits& shown = DisplayUnits::none());

}  // namespace grove
