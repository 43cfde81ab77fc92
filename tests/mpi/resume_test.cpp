// The start of a run: from checkpoints that are whole or not, of this run or of another.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/resume_fixture.hpp"

namespace grove {
namespace {

namespace fs = std::filesystem;
using testing::bytes_of;
using testing::Resume;
using testing::rows_of;
using testing::TestFolder;

/// Flips a bit in the middle of a file.
void damage(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(fs::file_size(path) / 2);
  file.seekg(middle);
  const auto byte = static_cast<char>(file.get() ^ 1);
  file.seekp(middle);
  file.put(byte);
}

/// The steps that log.jsonl has lines of.
std::vector<std::string> steps_of(const std::string& path) {
  const std::string begin = R"({"event":"step","step":)";
  std::vector<std::string> steps;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(begin))
      steps.push_back(line.substr(begin.size(), line.find(',', begin.size()) - begin.size()));
  return steps;
}

/// Removes the lines of these events from log.jsonl.
void forget(const std::string& path, const std::vector<std::string>& events) {
  std::ifstream file(path);
  std::string kept;
  for (std::string line; std::getline(file, line);)
    if (std::none_of(events.begin(), events.end(), [&](const std::string& event) {
          return line.starts_with(R"({"event":")" + event + "\"");
        }))
      kept += line + "\n";
  std::ofstream(path) << kept;
}

TEST_F(Resume, goes_on_from_the_last_valid_checkpoint_to_the_same_files) {
  const std::vector<std::string> pictures{"output.render=true", "output.every=0.04", "audit.every=1"};
  EXPECT_EQ(run_auto(pictures), -1) << "there is nothing: afresh";
  const std::int64_t steps = open_checkpoint(comm_, checkpoints().at(0)).run.steps_done;
  ASSERT_EQ(checkpoints().size(), 2u);
  EXPECT_EQ(run_auto(pictures), steps) << "it is complete";
  const std::string snapshot = bytes_of(folder_ / "snapshot_002.hdf5"),
                    picture = bytes_of(folder_ / "snapshot_002.png"),
                    energy = bytes_of(folder_ / "energy.csv"), audit = bytes_of(folder_ / "audit.csv"),
                    timing = rows_of(folder_ / "timing.csv", 5), rungs = rows_of(folder_ / "rungs.csv", 8);
  const std::vector<std::string> log = steps_of(folder_ / "log.jsonl");
  EXPECT_EQ(log.size(), static_cast<std::size_t>(steps) + 1);
  ASSERT_FALSE(snapshot.empty() || picture.empty() || energy.empty());

  on_disk([&] {
    damage(checkpoints()[0] + "/" + state_file);
    fs::remove(folder_ / "snapshot_002.hdf5");
    fs::remove(folder_ / "snapshot_002.png");
    fs::create_directories(folder_ / "checkpoints/step_000000123.tmp");
    // As a run leaves it that is killed while it writes a row.
    std::ofstream(folder_ / "timing.csv", std::ios::app) << steps + 1 << ",0.08";
    std::ofstream(folder_ / "log.jsonl", std::ios::app)
        << R"({"event":"step","step":)" << steps + 1 << ",\"t";
  });
  EXPECT_EQ(run_auto(pictures), steps - 1) << "the one before, inside of a longest step";
  EXPECT_EQ(bytes_of(folder_ / "snapshot_002.hdf5"), snapshot);
  EXPECT_EQ(bytes_of(folder_ / "snapshot_002.png"), picture) << "it shows what the first one does";
  EXPECT_EQ(bytes_of(folder_ / "energy.csv"), energy);
  EXPECT_EQ(bytes_of(folder_ / "audit.csv"), audit);
  EXPECT_EQ(rows_of(folder_ / "timing.csv", 5), timing);
  EXPECT_EQ(rows_of(folder_ / "rungs.csv", 8), rungs);
  EXPECT_EQ(steps_of(folder_ / "log.jsonl"), log);
  EXPECT_EQ(checkpoints().size(), 2u);
  EXPECT_FALSE(fs::exists(folder_ / "checkpoints/step_000000123.tmp"));
  EXPECT_EQ(run_auto(pictures), steps);
}

TEST_F(Resume, of_a_run_that_could_not_write_a_snapshot_goes_on_with_that_one) {
  run_auto();
  for (const char* name : {"snapshot_002.hdf5", "snapshot_005.hdf5"}) {  // inside of a step; of the end
    const std::string due = folder_ / name, before = bytes_of(due),
                      end = bytes_of(folder_ / "snapshot_005.hdf5");
    on_disk([&] { fs::remove(due), fs::create_directory(due); });
    EXPECT_NE(refusal({"never", true}, {"checkpoint.every=1 h"}).find(name), std::string::npos);
    ASSERT_EQ(checkpoints().size(), 1u) << "it was saved";
    on_disk([&] { fs::remove(due); });
    EXPECT_GT(run_auto(), 0);
    EXPECT_TRUE(bytes_of(due) == before) << due;
    EXPECT_TRUE(bytes_of(folder_ / "snapshot_005.hdf5") == end) << due;
    EXPECT_TRUE(is_complete(open_checkpoint(comm_, checkpoints()[0]), parameters()))
        << "nothing is due any more";
  }
}

TEST_F(Resume, takes_the_folder_of_a_checkpoint_to_another_output) {
  run_auto();
  const TestFolder other(comm_, "resume-other");
  const std::int64_t steps = run({checkpoints()[1]}, {"output.folder=" + other.path()});
  EXPECT_GT(steps, 0);
  EXPECT_EQ(bytes_of(other / "snapshot_005.hdf5"), bytes_of(folder_ / "snapshot_005.hdf5"));
  EXPECT_EQ(rows_of(other / "timing.csv", 1), fmt::format("step\n{}\n", steps + 1));
  EXPECT_EQ(checkpoints().size(), 2u) << "those of the other folder stay";
  EXPECT_NE(refusal({checkpoints()[1]}, {"output.folder=" + other.path()}).find("holds the results"),
            std::string::npos);
}

TEST_F(Resume, sets_a_table_of_other_columns_aside) {
  run_auto();
  const std::string old = "step,time,something\n1,0.001,7\n";
  on_disk([&] {
    fs::remove_all(checkpoints()[0]);
    std::ofstream(folder_ / "timing.csv") << old;
  });
  const std::int64_t step = run_auto();
  EXPECT_EQ(bytes_of(folder_ / fmt::format("timing.csv.before_step_{}", step)), old);
  EXPECT_EQ(rows_of(folder_ / "timing.csv", 1), fmt::format("step\n{}\n", step + 1));
}

TEST_F(Resume, names_every_kind_of_damage) {
  run_auto();
  const std::string last = checkpoints()[0], before = checkpoints()[1], part = before + "/part_0000.hdf5",
                    manifest = manifest_of_checkpoint(before);
  on_disk([&] { fs::remove_all(last); });
  const std::string good_part = bytes_of(part), good_manifest = bytes_of(manifest);
  const auto put = [&](const std::string& path, const std::string& bytes) {
    on_disk([&] { std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes; });
  };
  const auto expect_refusal = [&](const std::string& text) {
    const std::string error = refusal({"auto"});
    EXPECT_NE(error.find(text), std::string::npos) << error;
    EXPECT_NE(error.find("no checkpoint to go on from"), std::string::npos) << error;
    const std::string named = refusal({before});
    EXPECT_NE(named.find(text), std::string::npos) << named;
    EXPECT_EQ(named.find("--overwrite"), std::string::npos) << "there may be others: " << named;
  };
  on_disk([&] { damage(part); });
  expect_refusal("part_0000.hdf5: is damaged: its checksum");
  put(part, good_part.substr(0, good_part.size() - 1));
  expect_refusal("part_0000.hdf5: is damaged: it has");
  on_disk([&] { fs::remove(part); });
  expect_refusal("part_0000.hdf5: cannot be read: No such file");
  put(part, good_part);
  on_disk([&] { damage(manifest); });
  expect_refusal("manifest.json: is damaged");
  put(manifest, "");
  expect_refusal("manifest.json: is damaged");
  on_disk([&] { fs::remove(manifest); });
  expect_refusal("manifest.json: is not there");
  put(manifest, good_manifest);
  EXPECT_GT(run_auto(), 0);
}

TEST_F(Resume, of_another_run_is_refused) {
  run_auto();
  const auto expect_refusal = [&](const std::vector<std::string>& changes, const std::string& text) {
    const std::string error = refusal({"auto"}, changes);
    EXPECT_NE(error.find(text), std::string::npos) << error;
  };
  expect_refusal({"gravity.delta=1e-3"}, "gravity.delta was 0.00025 and is now 0.001");
  expect_refusal({"initial_conditions.n=600", "gravity.delta=1e-3"},
                 "gravity.delta was 0.00025 and is now 0.001, initial_conditions.n was 500 and is now 600");
  expect_refusal({"time.begin=0"}, "time.begin was not given and is now 0");
  expect_refusal({"decomposition.leaf_size=32"}, "decomposition.leaf_size was 0 and is now 32");
  expect_refusal({"time.end=0.07"}, "time.end");
  expect_refusal({"time.end=0.06"}, "behind time.end");
  const std::string error = refusal({"auto"}, {}, "cuda");
  EXPECT_NE(error.find("go on with --backend kokkos, or start another run from the last snapshot"),
            std::string::npos)
      << error;
  EXPECT_GT(run_auto({"output.every=0.01", "audit.every=1", "checkpoint.every=0", "time.end=0.1",
                      "decomposition.schedule=master"}),
            0)
      << "what says nothing about forces may change";
}

TEST_F(Resume, takes_a_parameter_that_an_older_version_did_not_know_for_its_default) {
  const auto with = [&](const std::string& change) { return fixed_parameters(parameters({change})); };
  auto old = with("audit.every=1");
  ASSERT_EQ(old.erase("gravity.delta"), 1u);
  EXPECT_NO_THROW(require_same(old, with("audit.every=1"), "test"));
  EXPECT_THROW(require_same(old, with("gravity.delta=1e-3"), "test"), InputError);
  old["gravity.forgotten"] = "1";
  EXPECT_THROW(require_same(old, with("audit.every=1"), "test"), InputError);
}

TEST_F(Resume, leaves_alone_what_it_was_not_told_to_replace) {
  run_auto();
  EXPECT_NE(refusal({"never"}).find("--resume auto"), std::string::npos);
  EXPECT_NE(refusal({"auto", true}).find("--overwrite"), std::string::npos);
  on_disk([&] { fs::remove_all(folder_ / "checkpoints"); });
  EXPECT_NE(refusal({"auto"}).find("--overwrite"), std::string::npos) << "of an old grove";
  on_disk([&] { fs::create_directories(folder_ / "checkpoints"); });
  EXPECT_NE(refusal({"auto"}).find("--overwrite"), std::string::npos)
      << "of a run that could write no checkpoint";
  on_disk([&] { forget(folder_ / "log.jsonl", {"end"}); });
  EXPECT_NE(refusal({"auto"}).find("snapshot_005.hdf5"), std::string::npos)
      << "of a run whose checkpoints somebody has removed: it may start from its last snapshot";
  on_disk([&] { forget(folder_ / "log.jsonl", {"end", "checkpoint"}); });
  EXPECT_NE(refusal({"auto"}, {"initial_conditions.n=600"}).find("other parameters"), std::string::npos);
  EXPECT_EQ(run_auto(), -1) << "of a run that ended before its first checkpoint";
  EXPECT_EQ(run({"never", true}), -1);
  EXPECT_EQ(checkpoints().size(), 2u);
}

TEST_F(Resume, is_not_hindered_by_a_run_that_ended_before_its_first_step) {
  run_auto();
  on_disk([&] {
    fs::remove_all(folder_ / "checkpoints");
    std::ifstream file(folder_ / "log.jsonl");
    std::string start, first;
    std::getline(file, start), std::getline(file, first);
    ASSERT_NE(first.find(R"("step":0,)"), std::string::npos) << first;
    std::ofstream(folder_ / "log.jsonl") << start << "\n" << first << "\n";
  });
  EXPECT_EQ(run_auto({"initial_conditions.n=600", "time.end=0.04"}), -1);
  EXPECT_FALSE(fs::exists(folder_ / "snapshot_005.hdf5")) << "of the run before";
  EXPECT_NE(refusal({"never"}).find("--resume auto"), std::string::npos) << "this one is done";
}

TEST_F(Resume, leaves_no_snapshots_that_are_of_other_times_or_of_another_run) {
  const auto times = [&] {
    std::vector<double> found;
    for (int i = 0; fs::exists(folder_ / fmt::format("snapshot_{:03}.hdf5", i)); ++i)
      found.push_back(read_snapshot_header(comm_, folder_ / fmt::format("snapshot_{:03}.hdf5", i), {}).time);
    return found;
  };
  run({"never"}, {"output.every=0.01", "output.render=true"});
  ASSERT_EQ(times().size(), 9u);
  on_disk([&] {  // as if it had been killed in its middle
    for (const std::string& later : checkpoints())
      if (later != checkpoints().back()) fs::remove_all(later);
    std::ofstream(folder_ / "requested_step_00000001.hdf5") << "of then";
    for (const char* name :
         {"snapshot_008.1.hdf5", "snapshot_old.hdf5", "snapshot_008.hdf5.bak", "snapshot_9"})
      std::ofstream(folder_ / name) << "";
  });
  const double saved = open_checkpoint(comm_, checkpoints()[0]).manifest.time;
  const auto before = static_cast<std::size_t>(saved / 0.01) + 1;  // that were due by then
  EXPECT_GE(run_auto({"output.every=1", "time.end=0.1"}), 0);
  const std::vector<double> left = times();
  EXPECT_EQ(left.size(), before + 1) << "and that of the end";
  EXPECT_TRUE(std::is_sorted(left.begin(), left.end()));
  EXPECT_TRUE(fs::exists(folder_ / "requested_step_00000001.hdf5"));
  EXPECT_FALSE(fs::exists(folder_ / "snapshot_008.1.hdf5")) << "of a set";
  EXPECT_EQ(left.back(), 0.1);

  EXPECT_EQ(run({"never", true}, {"output.every=1"}), -1);
  EXPECT_EQ(times().size(), 2u);
  EXPECT_FALSE(fs::exists(folder_ / "snapshot_000.png"));
  EXPECT_FALSE(fs::exists(folder_ / "requested_step_00000001.hdf5"));
  for (const char* name : {"snapshot_old.hdf5", "snapshot_008.hdf5.bak", "snapshot_9"})
    EXPECT_TRUE(fs::exists(folder_ / name)) << name << " is somebody's own";
}

TEST_F(Resume, does_not_replace_what_it_begins_with) {
  run_auto();
  const std::string file = folder_ / "snapshot_002.hdf5";
  Parameters again = parameters();
  again.initial_conditions.file = file;
  std::string error;
  try {
    choose_checkpoint(comm_, {"never", true}, again, "kokkos");
  } catch (const Agreed<InputError>& refused) {
    error = refused.what();
  }
  EXPECT_NE(error.find("give another output.folder"), std::string::npos) << error;
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(Resume, replaces_nothing_before_a_new_run_has_its_first_forces) {
  run_auto();
  const std::vector<std::string> before = checkpoints();
  const std::vector<std::string> impossible{"decomposition.rule=halves", "decomposition.leaves=5000"};
  EXPECT_NE(refusal({"never", true}, impossible).find("5000 leaves"), std::string::npos);
  EXPECT_EQ(checkpoints(), before);
  EXPECT_GT(run_auto({"time.end=0.1"}), 0) << "they are as they were";
}

TEST_F(Resume, keeps_checkpoints_of_its_own_way_alone) {
  run_auto();
  const std::vector<std::string> first = checkpoints();
  const std::int64_t steps =
      run({folder_ / "checkpoints/../checkpoints/" + first[1].substr(first[1].rfind('/')) + "/"});
  EXPECT_GT(steps, 0);
  EXPECT_EQ(checkpoints(), first) << "the last one was written again";
  on_disk([&] { fs::rename(first[0], folder_ / "checkpoints/step_123456789"); });
  run({first[1]});
  EXPECT_EQ(checkpoints(), first) << "what was later on another way is gone";
}

}  // namespace
}  // namespace grove
