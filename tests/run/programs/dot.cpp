// labels: none
// Drawings of graphs: which checkpoints write files, and whether Graphviz understands them.
#include <set>
#include <stdexcept>

#include "../../../examples/tutorial/steps.hpp"
#include "../../static/programs/models.hpp"
#include "../../support/elements.hpp"
#include "../../support/environment.hpp"
#include "tilewright/graph/dot_checkpoint.hpp"

namespace {

using Names = std::set<std::string>;

/// The files that a program with three checkpoints writes.
Names written(const std::optional<std::string>& checks) {
  const TemporaryFolder folder;
  const EnvironmentVariable variable("TILEWRIGHT_DOT_CHECKS", checks);
  tw::trace([&](tw::Ir& ir) {
    const std::string drawings = (folder / "drawings").string();
    dot_checkpoint(ir, "FOO", drawings);
    const tw::Tensor x = tw::ops::host_load(ir.h2d_stream("x", {2}), "x");
    dot_checkpoint(ir, "BAR", drawings);
    store("y", x * x);
    dot_checkpoint(ir, "FINAL", drawings);
  });
  Names names;
  if (std::filesystem::exists(folder / "drawings"))
    for (const auto& file : std::filesystem::directory_iterator(folder / "drawings"))
      names.insert(file.path().filename().string());
  return names;
}

/// A name and a shape of everything, and what DOT could take for something else.
constexpr void program(tw::Ir& ir) {
  train_step<NetOutlined, 2, 28, 28>(ir);
  const tw::Tensor x = ir.variable(tw::zeros(), {2}, tw::float32, "\"quoted\" \\ <b>&lt; {x|y}\\");
  ir.remote_variable(tw::zeros(), ir.remote_buffer({2}), 0, "remote");
  const tw::Tensor condition = tw::ops::host_load(ir.h2d_stream("condition", {}, tw::boolean), "condition");
  const tw::Graph twice = ir.create_graph([](tw::Tensor t) { return t + t; }, x);
  const tw::Graph same = ir.create_graph([](tw::Tensor t) { return tw::ops::identity(t); }, x);
  const auto ordered = tw::in_sequence(ir);
  tw::repeat(twice, 3, {x});
  store("chosen", tw::conditional(condition, {twice, {x}}, {same, {x}})[0]);
}

}  // namespace

TEST_CASE("dot_checkpoint: the environment says which checkpoints write files") {
  CHECK(written(std::nullopt) == Names{"BAR.dot", "FINAL.dot", "FOO.dot"});
  CHECK(written("") == Names{});
  CHECK(written("FINAL") == Names{"FINAL.dot"});
  CHECK(written("FOO:BAR") == Names{"BAR.dot", "FOO.dot"});
  CHECK(written("ALL") == Names{"BAR.dot", "FINAL.dot", "FOO.dot"});
  CHECK(written("OTHER") == Names{});
}
TEST_CASE("dot_checkpoint: a file has the graphs as they are then") {
  const TemporaryFolder folder;
  const EnvironmentVariable variable("TILEWRIGHT_DOT_CHECKS", "ALL");
  tw::Text before;
  const auto ir = tw::trace([&](tw::Ir& traced) {
    const tw::Tensor x = tw::ops::host_load(traced.h2d_stream("x", {2}), "x");
    before = to_dot(traced);
    dot_checkpoint(traced, "now", folder.path.string());
    store("y", x * x);
  });
  CHECK(file_content(folder / "now.dot") == before.view());
  CHECK(to_dot(*ir) != before);
}
TEST_CASE("dot_checkpoint: a file that cannot be written is an error") {
  const TemporaryFolder folder;
  const EnvironmentVariable variable("TILEWRIGHT_DOT_CHECKS", std::nullopt);
  std::ofstream(folder / "file") << "no folder";
  tw::Ir ir;
  CHECK_THROWS_WITH(dot_checkpoint(ir, "a", (folder / "file").string()),
                    "dot_checkpoint: cannot write '" + (folder / "file" / "a.dot").string() + "'");
  CHECK_THROWS_AS(dot_checkpoint(ir, "a/b", folder.path.string()), tw::TraceError);
}
TEST_CASE("Graphviz understands the drawings") {
  if (std::system("dot -V > /dev/null 2>&1") != 0) {
    WARN("skipped: Graphviz's dot is not installed");
    return;
  }
  const TemporaryFolder folder;
  const auto ir = tw::trace(program);
  std::ofstream(folder / "ir.dot") << to_dot(*ir);
  const std::string in = (folder / "ir.dot").string(), out = (folder / "ir.svg").string(), log = (folder / "log").string();
  const int result = std::system(("dot -Tsvg '" + in + "' -o '" + out + "' 2> '" + log + "'").c_str());
  INFO(file_content(log));
  CHECK(result == 0);
  CHECK(file_content(log).find("Warning: ") == std::string::npos);
  const std::string svg = file_content(out);
  const auto count = [&](std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = svg.find(part); at != svg.npos; at = svg.find(part, at + 1)) ++found;
    return found;
  };
  CHECK(count("class=\"cluster\"") == ir->tables.graphs.size());
  CHECK(count(">&quot;quoted&quot; \\ &lt;b&gt;&amp;lt; {x|y}\\<") == 1);
}
