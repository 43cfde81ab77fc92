#include "commands/backend_options.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "commands/choice.hpp"
#include "io/words.hpp"

namespace grove {

void add_backend_choice(CLI::App& command, BackendChoice& choice) {
  command
      .add_option("--backend", choice.name,
                  "What computes: the host (kokkos), a GPU per rank (cuda), or GPUs if every rank has one of "
                  "its own (auto)")
      ->check(CLI::IsMember({"auto", "kokkos", "cuda"}))
      ->capture_default_str();
  command.add_flag("--share-gpu", choice.share_gpu,
                   "Let several ranks use the same GPU; several processes share it, slower than one");
}

void add_backend_options(CLI::App& command, BackendChoice& choice) {
  static const std::map<std::string, PayloadPath> payloads = values_by_word<PayloadPath>();
  add_backend_choice(command, choice);
  add_optional_choice(command, "--payload", choice.payload, payloads,
                      "How arrays travel between GPUs: over NCCL, handed to MPI in GPU memory, or staged in "
                      "the host's; default: the first of nccl, mpi, staged that works");
}

}  // namespace grove
