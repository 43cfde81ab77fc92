#include "initial_conditions.hpp"

#include <optional>

#include "particles/models/model.hpp"

namespace grove {

Particles make_initial_conditions(const Communicator& comm, const ModelParameters& parameters) {
  std::optional<Model> model;
  comm.together([&] { model = make_model(parameters); });
  // Quotient and remainder apart: count times rank could exceed 64 bits.
  const Count quotient = model->count() / comm.size(), remainder = model->count() % comm.size();
  const auto begin = [&](Count rank) { return quotient * rank + std::min(rank, remainder); };
  const Count first = begin(comm.rank()), last = begin(comm.rank() + 1);

  std::vector<std::int64_t> sums = model->sums(first, last);
  comm.sum(std::span<std::int64_t>(sums));
  model->centre(sums);
  Particles particles;
  model->make(first, last, particles);
  return particles;
}

}  // namespace grove
