#include "kernels/cuda/trees/device_top.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/trees/top_climb.cuh"
#include "kernels/cuda/trees/top_kernels.cuh"
#include "kernels/cuda/trees/top_values.cuh"
#include "kernels/math/leaf_bodies.hpp"
#include "kernels/math/top_sum.hpp"

namespace grove::cuda {
namespace {

/// The table of a rank that has all leaves.
TopTable table_of(std::span<const Cell> cells) {
  TopTable table;
  for (const Cell& cell : cells)
    table.cells.push_back(
        {cell.child, static_cast<std::int32_t>(cell.first_leaf), static_cast<std::int32_t>(cell.leaves)});
  if (!cells.empty()) table.own_leaves = table.leaves = table.cells[0].leaves;
  return table;
}

/// Places the own cells for the selection of trees for other ranks.
__global__ void __launch_bounds__(top_threads)
    place_own(const WalkUnits units, const AcceptanceRule rule, const KnownRoots roots, const TopLinks* cells,
              const std::int32_t* own, std::uint32_t count, const TopSum* sums, Vec3d* centre, NodeCore* core,
              const Images images, Ball* balls) {
  const std::uint32_t i = blockIdx.x * top_threads + threadIdx.x;
  if (i >= count) return;
  const std::int32_t c = own[i];
  core[c] = shown_core(cells[c], sums[c], roots, rule);
  centre[c] = sums[c].sum.centre * units.length;
  balls[c] = shown_ball(cells[c], sums[c], roots, units, images);
}

__global__ void __launch_bounds__(top_threads)
    collect_covers(const KnownRoots roots, const TopLinks* cells, const std::int32_t* own_covers,
                   std::uint32_t count, const TopSum* sums, const Vec3d* centre, const NodeCore* core,
                   const Ball* balls, const Wanted* wanted, const int* lacking, CoverNotice* notices) {
  const std::uint32_t i = blockIdx.x * top_threads + threadIdx.x;
  if (i >= count) return;
  const std::int32_t c = own_covers[i];
  const LeafRoot root = cells[c].is_leaf() ? roots.root(cells[c].first_leaf) : LeafRoot{};
  notices[i] = {sums[c], root, centre[c], core[c], balls[c], wanted[c], lacking ? *lacking : 0};
}

__global__ void __launch_bounds__(top_threads)
    gather_cells(const KnownRoots roots, const TopLinks* cells, const std::int32_t* chosen,
                 std::uint32_t count, const TopSum* sums, const Vec3d* centre, const NodeCore* core,
                 const Ball* balls, Order order, TopCell* out) {
  const std::uint32_t i = blockIdx.x * top_threads + threadIdx.x;
  if (i >= count) return;
  const std::int32_t c = chosen[i];
  if (cells[c].is_leaf()) {
    out[i] = TopCell::of_leaf(roots.root(cells[c].first_leaf));
    return;
  }
  const NodeBox box = top_box(sums[c]);
  out[i] = {core[c], top_moments(sums[c], order), centre[c], box.low, box.high, balls[c], false};
}

/// The roots of leaves of other ranks, and of the one that stands for all that is not known.
__global__ void __launch_bounds__(top_threads)
    collect_roots(const TopLinks* cells, std::int32_t own_leaves, const CoverNotice* covers,
                  const std::int32_t* cover_cells, std::uint32_t cover_count, const TopCell* values,
                  const TopLinks* links_of_values, std::uint32_t count, const Vec3d reference,
                  std::int32_t leaves, LeafRoot* others) {
  const std::uint32_t i = blockIdx.x * top_threads + threadIdx.x;
  if (i == 0) {
    LeafRoot unknown{};
    unknown.core.reach2 = infinite_float;
    unknown.origin = reference;
    others[leaves - 1 - own_leaves] = unknown;
  }
  if (i < cover_count) {
    const TopLinks cell = cells[cover_cells[i]];
    if (cell.is_leaf() && cell.first_leaf >= own_leaves)
      others[cell.first_leaf - own_leaves] = covers[i].root;
  }
  if (i < count && links_of_values[i].is_leaf())
    others[links_of_values[i].first_leaf - own_leaves] = values[i].root();
}

}  // namespace

DeviceTop::DeviceTop(std::span<const Cell> cells, const NodeCodes& codes, const Images& images)
    : DeviceTop(table_of(cells), codes, images) {}

DeviceTop::DeviceTop(TopTable table, const NodeCodes& codes, const Images& images)
    : codes_(codes), images_(images), table_(std::move(table)) {
  const std::vector<TopLinks>& cells = table_.cells;
  if (cells.empty()) return;
  const auto copies = static_cast<std::uint32_t>(images.count());
  std::vector<std::uint32_t> depth(cells.size(), 0);
  std::vector<std::uint32_t> first(static_cast<std::size_t>(table_.own_leaves) + 1, 0);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (cells[c].child >= 0)
      depth[static_cast<std::size_t>(cells[c].child)] = depth[static_cast<std::size_t>(cells[c].child) + 1] =
          depth[c] + 1;
    else if (cells[c].is_leaf() && cells[c].first_leaf < table_.own_leaves)
      first[static_cast<std::size_t>(cells[c].first_leaf) + 1] = depth[c] + copies - 1;
  }
  for (std::size_t leaf = 1; leaf < first.size(); ++leaf) first[leaf] += first[leaf - 1];
  first_beginning_ = DeviceArray<std::uint32_t>{std::span<const std::uint32_t>(first)};
  beginnings_ = DeviceArray<std::uint32_t>(first.back());
  lay_out(cells.size(), static_cast<std::size_t>(table_.leaves) + (table_.covers.empty() ? 0 : 1));
  cell_links_.upload(cells);
  table_links_ = DeviceArray<TopLinks>{std::span<const TopLinks>(cells)};
  link();
  begin_walks();
  if (!table_.covers.empty()) list_own();
  divide_way();
}

/// Room for so many cells and leaves, which need not have values yet.
void DeviceTop::lay_out(std::size_t cells, std::size_t leaves) {
  // Images are there as far as there is room: few of the cells have some, so that it is enough.
  const std::size_t of_root = images_.are_open() ? 0 : 2 * static_cast<std::size_t>(images_.count());
  if (std::max(cells, leaves) + of_root > codes_.most_frames())
    throw std::length_error("the top tree: too many leaves for trees of so many nodes");
  known_ = cells;
  walked_leaves_ = static_cast<std::int32_t>(leaves);
  renew(cell_links_, cells);
  renew(parent_, cells);
  renew(leaf_cell_, leaves);
  const std::size_t room = room_for(cells);
  renew(links_, room);
  renew(frames_, room);
  renew(core_, room);
  renew(moments_, room);
  renew(balls_, images_.are_open() ? 0 : room);
  renew(numbered_, images_.are_open() ? 0 : 2);
}

/// For all images of so many cells or leaves, gaps between those of the root and a trap; or as many as codes
/// have numbers for.
std::size_t DeviceTop::room_for(std::size_t of_an_image) const {
  if (images_.are_open()) return of_an_image;
  return std::min<std::size_t>((of_an_image + 1) * static_cast<std::size_t>(images_.count()),
                               codes_.most_frames());
}

void DeviceTop::link() {
  const TopNumbers all{static_cast<std::int32_t>(known_), walked_leaves_};
  link_cells<<<blocks_for(known_, top_threads), top_threads, 0, stream()>>>(
      codes_, cell_links_.data(), all, parent_.data(), leaf_cell_.data(), links_.data());
  launched("Grove::cuda::link_cells");
}

void DeviceTop::begin_walks() {
  if (table_.own_leaves == 0) return;
  const TopNumbers all{static_cast<std::int32_t>(known_), walked_leaves_};
  list_beginnings<<<blocks_for(static_cast<std::uint64_t>(table_.own_leaves), top_threads), top_threads, 0,
                    stream()>>>(codes_, cell_links_.data(), all, images_.count(), parent_.data(),
                                leaf_cell_.data(), table_.own_leaves, first_beginning_.data(),
                                beginnings_.data());
  launched("Grove::cuda::list_beginnings");
}

/// The own cells that are covers or lie below one, leaves first.
void DeviceTop::list_own() {
  const std::vector<TopLinks>& cells = table_.cells;
  std::vector<std::uint8_t> is_cover(cells.size(), 0), is_below(cells.size(), 0);
  for (std::size_t i = 0; i < table_.covers.size(); ++i) {
    const auto c = static_cast<std::size_t>(table_.covers[i]);
    is_cover[c] = 1;
    is_below[c] = table_.is_own_cover(static_cast<std::int32_t>(i)) ? 1 : 0;
  }
  std::vector<std::int32_t> own(static_cast<std::size_t>(table_.own_leaves));
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (!is_below[c]) continue;
    const auto number = static_cast<std::int32_t>(c);
    if (cells[c].is_leaf()) {
      own[static_cast<std::size_t>(cells[c].first_leaf)] = number;
      continue;
    }
    own.push_back(number);
    is_below[static_cast<std::size_t>(cells[c].child)] = 1;
    is_below[static_cast<std::size_t>(cells[c].child) + 1] = 1;
  }
  own_cells_ = DeviceArray<std::int32_t>{std::span<const std::int32_t>(own)};
  cover_cells_ = DeviceArray<std::int32_t>{std::span<const std::int32_t>(table_.covers)};
  is_cover_ = DeviceArray<std::uint8_t>{std::span<const std::uint8_t>(is_cover)};
  own_centre_ = DeviceArray<Vec3d>(cells.size());
  own_core_ = DeviceArray<NodeCore>(cells.size());
  own_balls_ = DeviceArray<Ball>(cells.size());
}

/// Divides the way of sums: blocks of leaves, as sum_cells() has them, go up to heads, and one goes on.
void DeviceTop::divide_way() {
  constexpr std::int32_t none = -1;
  const std::vector<TopLinks>& cells = table_.cells;
  std::vector<std::int32_t> block(cells.size(), none);  // that begins at all own leaves below
  std::vector<std::uint8_t> is_head(cells.size(), 0), is_cover(cells.size(), 0);
  for (const std::int32_t cover : table_.covers) is_cover[static_cast<std::size_t>(cover)] = 1;
  std::vector<std::int32_t> heads;
  for (std::size_t c = cells.size(); c-- > 0;) {
    if (cells[c].is_leaf()) {
      if (cells[c].first_leaf < table_.own_leaves && !is_cover[c])
        block[c] = cells[c].first_leaf / static_cast<std::int32_t>(top_threads);
      continue;
    }
    if (cells[c].child < 0) continue;
    const auto left = static_cast<std::size_t>(cells[c].child);
    if (block[left] == block[left + 1]) {
      if (!is_cover[c]) block[c] = block[left];  // nothing goes on from there
      continue;
    }
    for (const std::size_t child : {left, left + 1})
      if (block[child] != none) {
        is_head[child] = 1;
        heads.push_back(static_cast<std::int32_t>(child));
      }
  }
  heads_ = DeviceArray<std::int32_t>{std::span<const std::int32_t>(heads)};
  is_head_ = DeviceArray<std::uint8_t>{std::span<const std::uint8_t>(is_head)};
}

/// sums (out): of the cells above own leaves, up to the root or the covers; wanted (out) likewise, if there
/// are covers.
void DeviceTop::sum_cells(const LeafNotice* notices, TopSum* sums, Wanted* wanted) const {
  const CellClimb way{wanted ? is_cover_.data() : nullptr, wanted};
  const auto leaves = static_cast<std::size_t>(table_.own_leaves);
  climb_from(rule_.order, LeafClimb{way, units_, notices, leaf_cell_.data(), is_head_.data()}, leaves,
             blocks_for(leaves, top_threads), top_threads, cell_links_.data(), parent_, sums);
  if (heads_.size() > 0)
    climb_from(rule_.order, HeadClimb{way, heads_.data()}, heads_.size(), 1, most_climb_threads,
               cell_links_.data(), parent_, sums);
}

void DeviceTop::combine(const LeafNotice* notices, const WalkUnits& units, const AcceptanceRule& rule,
                        const Vec3d& reference) {
  if (table_.own_leaves == 0) return;
  units_ = units;
  rule_ = rule;
  roots_ = KnownRoots::own_ones(notices, static_cast<std::size_t>(table_.own_leaves));
  const DeviceArray<TopSum> sums(known_);
  sum_cells(notices, sums.data(), nullptr);
  show(sums.data(), nullptr, reference);
}

std::vector<CoverNotice> DeviceTop::begin(const LeafNotice* notices, const WalkUnits& units,
                                          const AcceptanceRule& rule, const int* lacking) {
  units_ = units;
  rule_ = rule;
  roots_ = KnownRoots::own_ones(notices, static_cast<std::size_t>(table_.own_leaves));
  std::vector<CoverNotice> told(static_cast<std::size_t>(table_.own_covers));
  renew(sums_, table_.cells.size());
  if (told.empty()) return told;
  const DeviceArray<Wanted> wanted(sums_.size());
  sum_cells(notices, sums_.data(), wanted.data());
  const auto own = static_cast<std::uint32_t>(own_cells_.size());
  place_own<<<blocks_for(own, top_threads), top_threads, 0, stream()>>>(
      units, rule, roots_, cell_links_.data(), own_cells_.data(), own, sums_.data(), own_centre_.data(),
      own_core_.data(), images_, own_balls_.data());
  launched("Grove::cuda::place_own");
  const DeviceArray<CoverNotice> collected(told.size());
  collect_covers<<<blocks_for(told.size(), top_threads), top_threads, 0, stream()>>>(
      roots_, cell_links_.data(), cover_cells_.data() + table_.first_own_cover,
      static_cast<std::uint32_t>(told.size()), sums_.data(), own_centre_.data(), own_core_.data(),
      own_balls_.data(), wanted.data(), lacking, collected.data());
  launched("Grove::cuda::collect_covers");
  collected.download(told);
  return told;
}

void DeviceTop::take(std::span<const CoverNotice> notices) {
  covers_ = DeviceArray<CoverNotice>{notices};
  if (covers_.size() == 0) return;
  climb_from(rule_.order, CoverClimb{covers_.data(), cover_cells_.data()}, covers_.size(), 1,
             most_climb_threads, cell_links_.data(), parent_, sums_.data());
}

DeviceArray<TopCell> DeviceTop::gather(std::span<const std::int32_t> cells) const {
  DeviceArray<TopCell> gathered(cells.size());
  if (cells.empty()) return gathered;
  const DeviceArray<std::int32_t> chosen{cells};
  gather_cells<<<blocks_for(cells.size(), top_threads), top_threads, 0, stream()>>>(
      roots_, table_links_.data(), chosen.data(), static_cast<std::uint32_t>(cells.size()), sums_.data(),
      own_centre_.data(), own_core_.data(), own_balls_.data(), rule_.order, gathered.data());
  launched("Grove::cuda::gather_cells");
  return gathered;
}

void DeviceTop::adopt(const ImportedTop& imported, const TopLinks* cells, const ImportedTop::Hung* hung) {
  lay_out(table_.cells.size() + imported.cells.size(), static_cast<std::size_t>(imported.leaves) + 1);
  adopt_cells<<<blocks_for(known_, top_threads), top_threads, 0, stream()>>>(
      table_links_.data(), static_cast<std::int32_t>(table_.cells.size()), cells,
      {static_cast<std::int32_t>(known_), walked_leaves_}, cell_links_.data(), leaf_cell_.data());
  launched("Grove::cuda::adopt_cells");
  if (!imported.hung.empty()) {
    const auto count = static_cast<std::uint32_t>(imported.hung.size());
    hang_cells<<<blocks_for(count, top_threads), top_threads, 0, stream()>>>(hung, count, cell_links_.data());
    launched("Grove::cuda::hang_cells");
  }
  link();
  // In the first image walks begin at own cells, and at covers of others.
  if (images_.count() > 1) begin_walks();
}

void DeviceTop::finish(const TopCell* values, const Vec3d& reference) {
  take_roots(values, reference);
  show(sums_.data(), values, reference);
}

void DeviceTop::take_roots(const TopCell* values, const Vec3d& reference) {
  renew(others_, static_cast<std::size_t>(walked_leaves_ - table_.own_leaves));
  const auto covers = static_cast<std::uint32_t>(covers_.size()),
             count = static_cast<std::uint32_t>(known_ - table_.cells.size());
  collect_roots<<<blocks_for(std::max({covers, count, 1U}), top_threads), top_threads, 0, stream()>>>(
      cell_links_.data(), table_.own_leaves, covers_.data(), cover_cells_.data(), covers, values,
      cell_links_.data() + table_.cells.size(), count, reference, walked_leaves_, others_.data());
  launched("Grove::cuda::collect_roots");
  roots_.others = others_.data();
  roots_.count = walked_leaves_;
}

}  // namespace grove::cuda
