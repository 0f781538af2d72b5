// labels: light
// What the programs of language models have beside the model: examples/gpt.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "../../../examples/gpt/loss_chart.hpp"
#include "../../../examples/gpt/loss_curve.hpp"
#include "../../catch.hpp"
#include "../../support/environment.hpp"

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), no_number = std::numeric_limits<float>::quiet_NaN();

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("LossCurve: a file of lines with commas, with which a run goes on") {
  const TemporaryFolder folder;
  LossCurve curve;
  curve.add({.step = 10, .training = 4.25, .validation = 4.5, .tokens_per_second = 12345.6});
  curve.add({.step = 20, .training = 3});
  curve.add({.step = 30, .training = std::numeric_limits<double>::infinity(), .validation = 1e-7, .tokens_per_second = 2e6});
  curve.write_csv(folder / "curve.csv");
  CHECK(file_content(folder / "curve.csv") ==
        "step,training_loss,validation_loss,tokens_per_second\n10,4.25,4.5,12345.6\n20,3,,0\n30,inf,1e-07,2e+06\n");
  CHECK_THROWS_WITH(curve.add({.step = 30}), "LossCurve: step 30 after 30: a later one expected");

  LossCurve all = LossCurve::read_csv(folder / "curve.csv", 1000);
  REQUIRE(all.points().size() == 3);
  CHECK((all.points()[1].step == 20 && all.points()[1].training == 3 && std::isnan(all.points()[1].validation)));
  CHECK((all.points()[2].training == HUGE_VAL && all.points()[2].validation == 1e-7));
  all.write_csv(folder / "again.csv");
  CHECK(file_content(folder / "again.csv") == file_content(folder / "curve.csv"));
  LossCurve part = LossCurve::read_csv(folder / "curve.csv", 29);
  CHECK(part.points().size() == 2);
  part.add({.step = 30});
  CHECK(LossCurve::read_csv(folder / "none.csv", 1000).points().empty());

  std::ofstream(folder / "bad.csv") << "step,training_loss,validation_loss,tokens_per_second\n1,2,,3\n2,x,,3\n";
  CHECK_THROWS_WITH(
      LossCurve::read_csv(folder / "bad.csv", 9),
      "LossCurve: " + (folder / "bad.csv").string() + ": line 3, '2,x,,3': a later step and three numbers expected");
  std::ofstream(folder / "other.csv") << "a,b\n";
  CHECK_THROWS_WITH(LossCurve::read_csv(folder / "other.csv", 9),
                    "LossCurve: " + (folder / "other.csv").string() +
                        ": line 1: 'step,training_loss,validation_loss,tokens_per_second' expected");
  CHECK_THROWS_WITH(curve.write_csv(folder.path()),
                    "LossCurve: " + folder.path().string() + ": a file that cannot be written: a writable one expected");
}

TEST_CASE("LossChart: lines, axes and a legend") {
  LossCurve curve;
  for (std::uint64_t step = 1; step <= 200; ++step)
    curve.add({.step = step * 10,
               .training = step == 50 ? static_cast<double>(no_number) : 1.5 + 2.7 / static_cast<double>(step),
               .validation = step % 20 == 0 ? 1.6 + 2.7 / static_cast<double>(step) : static_cast<double>(no_number)});
  const std::string svg = LossChart(curve).svg();
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(count_of(svg, "<polyline class=\"training\"") == 2);  // NaN at step 500 interrupts it
  CHECK(count_of(svg, "<polyline class=\"validation\"") == 1);
  CHECK(count_of(svg, "<circle class=\"validation\"") == 10);
  CHECK(count_of(svg, "<circle class=\"training\"") == 0);
  for (const char* label : {">0<", ">500<", ">2000<", ">1.5<", ">4.5<", ">step<", ">loss<", ">training<", ">validation<"}) {
    INFO(label);
    CHECK(count_of(svg, label) == 1);
  }
  CHECK(count_of(svg, "prefers-color-scheme: dark") == 1);
  CHECK((count_of(svg, "nan") == 0 && count_of(svg, "inf") == 0));
  // the last point is at the right edge, and the first loss near the upper one
  CHECK(svg.find("736,") != svg.npos);
}

TEST_CASE("LossChart: few points, or none") {
  const TemporaryFolder folder;
  LossCurve curve;
  CHECK(count_of(LossChart(curve).svg(), "nan") == 0);
  curve.add({.step = 0, .training = 2});
  LossChart(curve).write(folder / "one.svg");
  const std::string svg = file_content(folder / "one.svg");
  CHECK(svg == LossChart(curve).svg());
  CHECK((count_of(svg, "<circle class=\"training\"") == 1 && count_of(svg, "nan") == 0 && count_of(svg, "inf") == 0));
  LossCurve broken;
  broken.add({.step = 1, .training = static_cast<double>(no_number), .validation = static_cast<double>(infinity)});
  CHECK(count_of(LossChart(broken).svg(), "<polyline") == 0);
}
