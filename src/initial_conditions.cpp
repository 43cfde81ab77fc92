#include "initial_conditions.hpp"

#include <optional>

#include "io/shares.hpp"
#include "particles/models/model.hpp"

namespace grove {

Particles make_initial_conditions(const Communicator& comm, const ModelParameters& parameters) {
  std::optional<Model> model;
  comm.together([&] { model = make_model(parameters); });
  const Count first = share_begin(model->count(), comm.rank(), comm.size());
  const Count last = share_begin(model->count(), comm.rank() + 1, comm.size());

  std::vector<std::int64_t> sums = model->sums(first, last);
  comm.sum(std::span<std::int64_t>(sums));
  model->centre(sums);
  Particles particles;
  model->make(first, last, particles);
  return particles;
}

}  // namespace grove
