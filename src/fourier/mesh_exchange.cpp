#include "fourier/mesh_exchange.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/shares.hpp"
#include "comm/exchange_plan.hpp"

namespace grove {
namespace {

std::size_t number(int place) { return static_cast<std::size_t>(place); }

Slab share(int points, int rank, int ranks) {
  return {static_cast<int>(share_begin(points, rank, ranks)),
          static_cast<int>(share_begin(points, rank + 1, ranks))};
}

/// A piece of the modes that a rank exchanges with another: of whole planes [x][rows of one rank][z], beside
/// which the planes have all rows. Calls copy(in planes, in piece, count) for each run.
template <class Copy>
void for_each_run(const MeshPart& part, const Slab& rows, std::size_t begin, std::size_t count,
                  const Copy& copy) {
  const std::size_t run = number(rows.count()) * number(part.half()),
                    plane = number(part.points) * number(part.half());
  for (std::size_t done = 0; done < count;) {
    const std::size_t x = (begin + done) / run, inside = (begin + done) % run;
    const std::size_t some = std::min(run - inside, count - done);
    copy(x * plane + number(rows.first) * number(part.half()) + inside, done, some);
    done += some;
  }
}

/// The rank whose elements begin at offsets[rank] or before.
int rank_of(std::span<const Count> offsets, std::size_t begin) {
  const auto after = std::upper_bound(offsets.begin(), offsets.end(), static_cast<Count>(begin));
  return static_cast<int>(after - offsets.begin()) - 1;
}

}  // namespace

MeshPart MeshPart::of(int points, int rank, int ranks) {
  return {points, share(points, rank, ranks), share(points, rank, ranks)};
}

std::vector<Count> MeshExchange::elements(bool of_planes) const {
  std::vector<Count> counts;
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const int other = share(part_.points, rank, comm_.size()).count();
    counts.push_back(Count{other} * (of_planes ? part_.planes : part_.rows).count() * part_.half());
  }
  return counts;
}

Array<Complex> MeshExchange::rows_of(Array<Complex> planes) const {
  if (comm_.size() == 1) return planes;
  const ExchangePlan plan(comm_, elements(true), elements(false));
  Array<Complex> rows(part_.modes());
  plan.apply(
      [&](std::size_t begin, std::span<Complex> piece) {
        const int to = rank_of(plan.send_offsets(), begin);
        for_each_run(part_, share(part_.points, to, comm_.size()),
                     begin - static_cast<std::size_t>(plan.send_offsets()[number(to)]), piece.size(),
                     [&](std::size_t place, std::size_t i, std::size_t count) {
                       std::copy_n(planes.data() + place, count, piece.data() + i);
                     });
      },
      std::span<Complex>(rows));
  return rows;
}

Array<Complex> MeshExchange::planes_of(Array<Complex> rows) const {
  if (comm_.size() == 1) return rows;
  const ExchangePlan plan(comm_, elements(false), elements(true));
  Array<Complex> planes(number(part_.planes.count()) * number(part_.points) * number(part_.half()));
  Array<Complex> arriving;
  plan.apply({[&](std::size_t begin, std::size_t) { return rows.data() + begin; },
              [&](std::size_t, std::size_t count) {
                arriving.resize(count);
                return arriving.data();
              },
              [&](std::size_t begin, std::size_t count) {
                const int from = rank_of(plan.receive_offsets(), begin);
                for_each_run(part_, share(part_.points, from, comm_.size()),
                             begin - static_cast<std::size_t>(plan.receive_offsets()[number(from)]), count,
                             [&](std::size_t place, std::size_t i, std::size_t some) {
                               std::copy_n(arriving.data() + i, some, planes.data() + place);
                             });
              }},
             sizeof(Complex));
  return planes;
}

}  // namespace grove
