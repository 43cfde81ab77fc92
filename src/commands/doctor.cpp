#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "comm/host.hpp"
#include "commands/commands.hpp"
#include "commands/doctor_gpu.hpp"
#include "io/file.hpp"
#include "machine/links.hpp"
#include "machine/rank_place.hpp"

namespace grove {
namespace {

/// The findings about a machine; complete on the master.
struct Report {
  std::vector<RankPlace> places;
  GpuLibraries gpu;
  bool all_have_gpus = false;
  std::string links, networks, mpi;  ///< links and networks: a line each per host, or per pair of GPUs
  std::vector<std::string> warnings;
};

/// True if this rank is the first of its host.
bool speaks_for_host(const std::vector<RankPlace>& places, int rank) {
  const auto own = static_cast<std::size_t>(rank);
  return std::none_of(places.begin(), places.begin() + rank,
                      [&](const RankPlace& other) { return other.host == places[own].host; });
}

/// The GPUs of a host, each once.
std::vector<std::string> gpus_on(const std::vector<RankPlace>& places, const std::array<char, 64>& host) {
  std::set<std::string> gpus;
  for (const RankPlace& place : places)
    if (place.host == host && place.gpu.is_there) gpus.insert(place.gpu.pci.data());
  return {gpus.begin(), gpus.end()};
}

/// The texts of all ranks, joined in rank order, everywhere. Collective.
std::string joined(const Communicator& comm, const std::string& text) {
  const std::vector<char> all = comm.all_gather_arrays(std::span<const char>(text));
  return {all.begin(), all.end()};
}

/// Collective.
void describe_links(const Communicator& comm, Report& report) {
  std::string links, networks, slow;
  if (speaks_for_host(report.places, comm.rank())) {
    const auto& host = report.places[static_cast<std::size_t>(comm.rank())].host;
    const std::string adapters = fast_networks();
    networks = fmt::format("{}: {}\n", host.data(), adapters.empty() ? "TCP alone" : adapters);
    for (const GpuLink& link : links_between(gpus_on(report.places, host))) {
      links += fmt::format("{}: {} - {}: {}\n", host.data(), link.first, link.second, link.kind);
      if (link.is_slow && slow.empty())
        slow = fmt::format("{}: GPUs {} and {} have a slow link ({})\n", host.data(), link.first, link.second,
                           link.kind);
    }
  }
  report.links = joined(comm, links);
  report.networks = joined(comm, networks);
  const std::string all_slow = joined(comm, slow);
  for (std::size_t begin = 0; begin < all_slow.size();) {
    const std::size_t end = all_slow.find('\n', begin);
    report.warnings.push_back(all_slow.substr(begin, end - begin));
    begin = end + 1;
  }
}

void add_network_warning(Report& report) {
  const bool several = std::count(report.networks.begin(), report.networks.end(), '\n') > 1;
  if (several && report.networks.find(": TCP alone") != std::string::npos)
    report.warnings.push_back("hosts without a fast network: the exchange of trees goes over TCP");
}

void add_library_warning(Report& report, int ranks) {
  if (report.all_have_gpus && ranks > 1 && report.gpu.nccl.empty() && !report.gpu.mpi_takes_device_memory)
    report.warnings.push_back(
        "arrays travel between GPUs through the memory of hosts: build with NCCL, or with an MPI that takes "
        "device "
        "memory");
}

/// Collective.
Report examine(const Communicator& comm) {
  Report report;
  report.mpi = mpi_library();
  report.places = all_places(comm, gpu_of_this_rank(comm));
  report.all_have_gpus = std::all_of(report.places.begin(), report.places.end(),
                                     [](const RankPlace& place) { return place.gpu.is_there; });
  if (report.all_have_gpus) report.gpu = gpu_libraries(comm);
  report.warnings = warnings_about(report.places);
  describe_links(comm, report);
  add_network_warning(report);
  add_library_warning(report, comm.size());
  return report;
}

std::string page_of(const Report& report) {
  std::string text = table_of(report.places);
  text += fmt::format("\nMPI: {}\n", report.mpi);
  if (report.all_have_gpus)
    text += fmt::format("MPI takes device memory: {}\nNCCL: {}\n",
                        report.gpu.mpi_takes_device_memory ? "yes" : "no",
                        report.gpu.nccl.empty() ? "not built in" : report.gpu.nccl);
  text += "\nNetworks:\n" + report.networks;
  if (!report.links.empty()) text += "\nLinks between GPUs:\n" + report.links;
  text += report.warnings.empty() ? "\nNothing here is known to cost speed.\n" : "\nWhat costs speed:\n";
  for (const std::string& warning : report.warnings) text += fmt::format("- {}\n", warning);
  return text;
}

std::string json_of(const Report& report) {
  nlohmann::ordered_json json;
  for (const RankPlace& place : report.places) {
    nlohmann::ordered_json rank = {{"host", place.host.data()},
                                   {"processors", text_of(place.cpus)},
                                   {"cores", place.cores.count()},
                                   {"numa", text_of(place.numa)}};
    if (place.gpu.is_there)
      rank["gpu"] = {
          {"name", place.gpu.name.data()}, {"pci", place.gpu.pci.data()}, {"numa", place.gpu.numa}};
    json["ranks"].push_back(rank);
  }
  json["mpi"] = report.mpi;
  json["mpi_takes_device_memory"] = report.gpu.mpi_takes_device_memory;
  json["nccl"] = report.gpu.nccl;
  json["warnings"] = report.warnings;
  return json.dump(2) + "\n";
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  const auto path = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand(
      "doctor", "Say where ranks run, how they are connected, and what of that costs speed");
  command.add_option("--json", *path, "Write the results to this file");
  command.callback([path, &action] {
    action = [path](const Communicator& comm) {
      comm.together([&] {
        if (comm.is_master()) require_output(*path, {});
      });
      const Report report = examine(comm);
      comm.together([&] {
        if (!comm.is_master()) return;
        fmt::print("{}", page_of(report));
        if (!path->empty()) write_text(*path, json_of(report));
      });
    };
  });
}

}  // namespace grove
