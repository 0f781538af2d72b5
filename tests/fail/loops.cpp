// labels: none
// Loops whose batches do not fit the streams of the program.
#include <tilewright/data/loader.hpp>
#include <tilewright/train/evaluate.hpp>
#include <tilewright/train/loop.hpp>

#include "traced.hpp"

struct Samples {
  using Numbers = xt::xtensor<float, 2>;
  BOOST_HANA_DEFINE_STRUCT(Samples, (Numbers, x), (Numbers, targets));
};
template <bool has_target>
constexpr void program(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {2, 3})), factor = ops::host_load(ir.h2d_stream("factor", {}));
  const Tensor y = x * factor;
  ops::host_store(ir.d2h_stream("y", y.spec()), has_target ? y - ops::host_load(ir.h2d_stream("target", {2, 3})) : y);
}
using Session = tw::Session<program<true>>;
void compiles(Session& session, tw::data::Loader<Samples>& loader) {
  using namespace tw::literals;
  tw::train::run_epochs(session, loader, {}, "factor"_s = 1);
}

// CASE stream_without_an_array
// expect: batch: no array for the stream `factor` among x, targets: an array of its name or its plural, or a named argument
void stream_without_an_array(Session& session, tw::data::Loader<Samples>& loader) {
  tw::train::run_epochs(session, loader, {.epochs = 2});
}

// CASE name_that_is_no_stream
// expect: batch: no stream `rate` that the program loads from: one of x, factor expected
void name_that_is_no_stream(tw::Session<program<false>>& session, tw::data::Loader<Samples>& loader) {
  using namespace tw::literals;
  tw::train::run_epochs(session, loader, {}, "factor"_s = 1, "rate"_s = 2);
}

// CASE report_that_returns_a_number
// expect: the report of a loop: a function that returns nothing, or a bool that is false to end the training, expected
void report_that_returns_a_number(Session& session, tw::data::Loader<Samples>& loader) {
  using namespace tw::literals;
  tw::train::run_epochs(session, loader, {}, [](const tw::train::Progress&) { return 1; }, "factor"_s = 1);
}
