#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>

#include "base/build_info.hpp"
#include "base/instruction_set.hpp"
#include "checkpoint.hpp"
#include "checkpoint_arrays.hpp"
#include "decomposition/hand_over.hpp"
#include "io/array_file.hpp"
#include "io/checksum.hpp"
#include "io/file.hpp"

namespace grove {
namespace {

static_assert(std::is_trivially_copyable_v<RunState> && std::is_trivially_copyable_v<GravityState>);

/// A CheckpointPiece on its way to the master.
struct PieceNotice {
  std::int64_t size;
  std::array<char, 32> checksum;
};

/// The cells of a rank's leaves, their work, and where their particles begin.
struct OwnLeavesData {
  std::vector<Cell> cells;
  std::vector<Count> work;
  std::span<const Count> begin;
};

std::int64_t bytes_of_part(const Particles& particles, const OwnLeavesData& leaves,
                           const Forest::Shape& trees) {
  std::int64_t sum = 0;
  const auto add = [&](const auto& values) {
    sum += static_cast<std::int64_t>(values.size() * sizeof(values[0]));
  };
  for_each_field([&](const auto& field) {
    if (field.info.checkpoint && particles.holds(field.info)) add(particles.*field.array);
  });
  add(leaves.cells), add(leaves.work), add(leaves.begin);
  add(trees.origins), add(trees.trees.links), add(trees.trees.node_begin), add(trees.trees.levels);
  return sum;
}

/// The own leaves: where they lie, their particles and trees.
FileSum write_part(const std::string& path, const Particles& particles, const OwnLeavesData& leaves,
                   const Forest::Shape& trees) {
  ArrayFileWriter file(path, bytes_of_part(particles, leaves, trees));
  for_each_field([&](const auto& field) {
    if (field.info.checkpoint && particles.holds(field.info))
      file.put(std::string(field.info.name), particles.*field.array);
  });
  file.put(arrays::cells, leaves.cells);
  file.put(arrays::leaf_work, leaves.work);
  file.put(arrays::leaf_begin, leaves.begin);
  file.put(arrays::node_begin, trees.trees.node_begin);
  file.put(arrays::links, trees.trees.links);
  if (!trees.trees.levels.empty()) file.put(arrays::levels, trees.trees.levels);
  file.put(arrays::origins, trees.origins);
  return file.close();
}

/// Writes what all ranks have alike.
FileSum write_state(const std::string& path, const CheckpointSource& source, const GravityState& gravity,
                    const std::vector<Cell>& cells) {
  const Domain& domain = source.domain;
  ArrayFileWriter file(
      path, static_cast<std::int64_t>(sizeof(RunState) + sizeof(GravityState) + sizeof(RebuildAbove::State) +
                                      sizeof(DomainHead) + cells.size() * sizeof(Cell)));
  file.put_value(arrays::run, source.run);
  file.put_value(arrays::gravity, gravity);
  if (source.rebuild_above) file.put_value(arrays::above, *source.rebuild_above);
  file.put_value(arrays::domain, DomainHead{domain.box, domain.leaf_size, domain.domain_cell});
  file.put(arrays::cells, cells);
  return file.close();
}

/// Writes this rank's part, if it has leaves. Returns those of all ranks, everywhere.
std::vector<CheckpointPiece> write_parts(const Communicator& comm, const std::string& folder,
                                         const CheckpointSource& source, const OwnLeavesData& data,
                                         const Forest::Shape& trees) {
  const auto name = [](int rank) { return fmt::format("part_{:04}.hdf5", rank); };
  PieceNotice own{};
  comm.together([&] {
    if (source.domain.own.size() == 0) return;
    source.backend.show(nullptr, [&](const Particles& particles) {
      const FileSum sum = write_part(folder + "/" + name(comm.rank()), particles, data, trees);
      own.size = sum.size;
      std::copy(sum.checksum.begin(), sum.checksum.end(), own.checksum.begin());
    });
  });
  std::vector<CheckpointPiece> pieces;
  const std::vector<PieceNotice> notices = comm.all_gather(own);
  for (int r = 0; r < comm.size(); ++r) {
    const OwnLeaves leaves = source.domain.owners.own(r);
    if (leaves.size() == 0) continue;
    const PieceNotice& notice = notices[static_cast<std::size_t>(r)];
    CheckpointPiece& piece = pieces.emplace_back();
    piece = {name(r), notice.size, {notice.checksum.begin(), notice.checksum.end()}, {}};
    for (const OwnLeaves::Run& run : leaves.runs()) piece.leaves.emplace_back(run.begin, run.end);
  }
  return pieces;
}

CheckpointManifest manifest_of(const CheckpointSource& source) {
  CheckpointManifest manifest;
  manifest.grove = build_info().version;
  manifest.instruction_set = compiled_instruction_set();
  manifest.backend = source.backend.traits().name;
  manifest.step = source.run.steps_done;
  manifest.time = source.time;
  manifest.time_text = source.time_text;
  manifest.shown = source.parameters.shown.names();
  manifest.particles = source.domain.cells[0].count;
  manifest.leaves = source.domain.leaves();
  manifest.parameters = fixed_parameters(source.parameters);
  return manifest;
}

void write_all(const Communicator& comm, const CheckpointFolder& folder, const std::string& kept,
               const CheckpointSource& source) {
  const std::int64_t step = source.run.steps_done;
  const std::string temporary = folder.temporary(step);
  Gravity::State gravity;
  OwnLeavesData leaves;
  std::optional<Holdings> holdings;
  comm.together([&] {
    if (comm.is_master()) folder.make_temporary(step);
    gravity = source.backend.gravity().state(source.domain);
    holdings.emplace(source.domain);
    leaves = {cells_below(source.domain, *holdings, comm.rank()), source.backend.leaf_work(source.domain),
              source.domain.leaf_begin};
  });
  const std::vector<CheckpointPiece> parts =
      write_parts(comm, temporary, source, leaves, gravity.stored.trees);
  comm.together([&] {
    if (!comm.is_master()) return;
    const FileSum state = write_state(temporary + "/" + state_file, source, gravity.agreed, holdings->cells);
    CheckpointManifest manifest = manifest_of(source);
    manifest.pieces = {{state_file, state.size, state.checksum, {}}};
    manifest.pieces.insert(manifest.pieces.end(), parts.begin(), parts.end());
    write_text(manifest_of_checkpoint(temporary), text_of(manifest));
    folder.commit(step, manifest.pieces);
    for (const std::string& fault : folder.remove_others(folder.place_of(step), kept))
      fmt::print(stderr, "warning: an older checkpoint: {}\n", fault);
  });
}

}  // namespace

void write_checkpoint(const Communicator& comm, const CheckpointFolder& folder, const std::string& kept,
                      const CheckpointSource& source) {
  try {
    write_all(comm, folder, kept, source);
  } catch (...) {
    if (comm.is_master()) folder.remove_temporary(source.run.steps_done);
    throw;
  }
}

}  // namespace grove
