// Writes the reports of made-up profiles and recordings into the folder that it is given, for run.py; with a file of text for
// each.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "synthetic_logs.hpp"
#include "synthetic_profiles.hpp"
#include "synthetic_recordings.hpp"
#include "tilewright/profile/print_profile.hpp"
#include "tilewright/profile/write_recording.hpp"
#include "tilewright/profile/write_report.hpp"

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: write_reports FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, const tilewright::Profile& profile) {
    tilewright::write_report(folder / name, profile);
    std::ofstream(folder / (std::string(name) + ".txt")) << profile;
  };
  write("transformer", synthetic::transformer());
  write("small", synthetic::small());
  write("pipeline", synthetic::pipeline());
  write("nothing", synthetic::nothing());
  tilewright::write_report(folder / "compared.html", synthetic::transformer(), synthetic::transformer(synthetic::bow));
  const std::vector<tilewright::Profile> three{synthetic::transformer(), synthetic::transformer(synthetic::bow),
                                               synthetic::small()};
  tilewright::write_report(folder / "three", three);
  tilewright::write_report(folder / "unlike", synthetic::small(), synthetic::nothing());
  tilewright::write_report(folder / "trained", synthetic::small(), synthetic::trained());
  tilewright::write_report(folder / "curves", synthetic::trained());
  tilewright::write_recording(folder / "recorded.html", synthetic::recorded());
  tilewright::write_recording(folder / "unrecorded", synthetic::unrecorded());
}
