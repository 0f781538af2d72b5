// Peers of derivatives.py: `derivatives PROBLEM make FILE` draws the inputs of a problem and writes them with the results by
// hand; `derivatives PROBLEM PEER FILE` reads them, and speaks the protocol; `derivatives PROBLEM` prints the peers. A problem is
// gmm-D-K, lstm-L-C or bundle.
#include <functional>
#include <map>
#include <sstream>

#ifdef WITH_ADOLC
#include <adolc/adolc.h>
#endif
#ifdef WITH_SACADO
#include <Sacado.hpp>
#endif
#ifdef WITH_EIGEN
#include <Eigen/Core>
#include <unsupported/Eigen/AutoDiff>
#endif

#include "../derivatives/bundle.hpp"
#include "../derivatives/gmm.hpp"
#include "../derivatives/lstm.hpp"

namespace {

#ifdef WITH_ADOLC
/// Numbers that ADOL-C keeps in memory for each part of a record: of more, it writes files, and more room makes short records
/// slower. What is faster with each problem: its own 2^19, but for the mixture with most parameters.
int tape_numbers(std::size_t parameters) { return parameters > 1000 ? 1 << 24 : 1 << 19; }
#endif

/// What a peer does with a problem: computes into a list of results.
using Peers = std::map<std::string, std::function<void(const Numbers& inputs, Numbers& results)>>;

/// Peers for a function of many parameters with one result: `value(parameters, others)`.
Peers peers_of(std::size_t parameters, const auto& value, const auto& gradient) {
  Peers peers{{"hand value", [=](const Numbers& in, Numbers& out) { out = {value(in.data(), in.data() + parameters)}; }},
              {"hand derivatives", [=](const Numbers& in, Numbers& out) {
                 out.resize(parameters);
                 gradient(in.data(), in.data() + parameters, out.data());
               }}};
#ifdef WITH_ADOLC
  peers["ADOL-C derivatives"] = [=, is_taped = false](const Numbers& in, Numbers& out) mutable {
    if (!is_taped) {  // the record of the first call serves all others
      const int most = tape_numbers(parameters);
      trace_on(1, 0, most, most, most, most);
      std::vector<adouble> active(parameters);
      for (std::size_t i = 0; i < parameters; ++i) active[i] <<= in[i];
      double result;
      value(active.data(), in.data() + parameters) >>= result;
      trace_off();
      is_taped = true;
    }
    out.resize(parameters);
    ::gradient(1, static_cast<int>(parameters), in.data(), out.data());
  };
#endif
#ifdef WITH_SACADO
  peers["Sacado derivatives"] = [=](const Numbers& in, Numbers& out) {
    using Active = Sacado::Rad::ADvar<double>;
    std::vector<Active> active(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(parameters));
    const Active result = value(active.data(), in.data() + parameters);
    Active::Gradcomp();
    out.resize(parameters);
    for (std::size_t i = 0; i < parameters; ++i) out[i] = active[i].adj();
  };
#endif
  return peers;
}

/// Calls f(row, place, number) for each observation.
void for_each_observation(const Bundle& bundle, const Numbers& in, const auto& f) {
  for (std::size_t i = 0; i < bundle.observations; ++i) {
    const auto row = bundle.row(in, i);
    f(row, &in[bundle.places_at() + 2 * i], i);
  }
}
/// The results of a bundle: of observations, then of weights.
auto by_observation(const Bundle& bundle, std::size_t size, const auto& f, const auto& of_weight) {
  return [=](const Numbers& in, Numbers& out) {
    out.resize(bundle.observations * (size + 1));
    for_each_observation(bundle, in, [&](const auto& row, const double* place, std::size_t i) {
      f(row, place, &out[i * size]);
      out[bundle.observations * size + i] = of_weight(row[14]);
    });
  };
}
/// Peers with numbers that know their derivatives for 15 inputs.
template <class Active>
auto by_active(const Bundle& bundle, const auto& start, const auto& of_weight) {
  const auto f = [start](const std::array<double, 15>& row, const double* place, double* result) {
    Active inputs[15], errors[2];
    for (int j = 0; j < 15; ++j) inputs[j] = start(row[static_cast<std::size_t>(j)], j);
    Bundle::errors(inputs, place, errors);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 15; ++j) {
        if constexpr (requires { errors[i].dx(j); }) *result++ = errors[i].dx(j);
        else *result++ = errors[i].derivatives()[j];
      }
  };
  return by_observation(bundle, 30, f, of_weight);
}
Peers peers_of(const Bundle& bundle) {
  const auto slope_of_weight = [](double w) { return -2 * w; };
  Peers peers{
      {"hand value",
       by_observation(
           bundle, 2, [](const auto& row, const double* place, double* result) { Bundle::errors(row.data(), place, result); },
           [](double w) { return 1 - w * w; })},
      {"hand derivatives",
       by_observation(
           bundle, 30, [](const auto& row, const double* place, double* result) { Bundle::jacobian(row.data(), place, result); },
           slope_of_weight)}};
#ifdef WITH_ADOLC
  const auto by_record = [](const auto& row, const double* place, double* result) {
    static bool is_taped = false;  // the record of the first observation serves all others
    double inputs[17] = {}, first[17], second[17], *lines[] = {first, second};
    std::copy_n(place, 2, std::copy(row.begin(), row.end(), inputs));
    if (!is_taped) {
      trace_on(1);
      adouble active[17], errors[2];
      for (int j = 0; j < 17; ++j) active[j] <<= inputs[j];
      Bundle::errors(active, active + 15, errors);
      for (adouble& each : errors) each >>= result[0];
      trace_off();
      is_taped = true;
    }
    ::jacobian(1, 2, 17, inputs, lines);
    std::copy_n(second, 15, std::copy_n(first, 15, result));
  };
  peers["ADOL-C derivatives"] = by_observation(bundle, 30, by_record, slope_of_weight);
#endif
#ifdef WITH_SACADO
  using Fad = Sacado::Fad::SFad<double, 15>;
  peers["Sacado derivatives"] = by_active<Fad>(bundle, [](double x, int j) { return Fad(15, j, x); }, slope_of_weight);
#endif
#ifdef WITH_EIGEN
  using Scalar = Eigen::AutoDiffScalar<Eigen::Matrix<double, 15, 1>>;
  peers["Eigen derivatives"] = by_active<Scalar>(bundle, [](double x, int j) { return Scalar(x, 15, j); }, slope_of_weight);
#endif
  return peers;
}

int serve_problem(const Numbers& inputs, Peers peers, int count, char** arguments) {
  if (count < 4) {
    for (const auto& [name, peer] : peers) std::puts(name.c_str());
    return 0;
  }
  const std::string name = arguments[2], path = arguments[3];
  if (name == "make") {
    Problem problem{inputs};
    peers.at("hand value")(inputs, problem.value);
    peers.at("hand derivatives")(inputs, problem.derivatives);
    problem.write(path);
    return 0;
  }
  const Problem problem = Problem::read(path);
  Numbers results;
  const auto& peer = peers.at(name);
  return serve_checked(
      name.ends_with(" value") ? problem.value : problem.derivatives, [&] { peer(problem.inputs, results); },
      [&] { return results; });
}

}  // namespace

int main(int count, char** arguments) {
  std::string kind, first, second;
  std::istringstream problem(count > 1 ? arguments[1] : "");
  std::getline(problem, kind, '-') && std::getline(problem, first, '-') && std::getline(problem, second, '-');
  if (kind == "gmm") {
    const Gmm gmm{std::stoul(first), std::stoul(second)};
    return serve_problem(gmm.draw(),
                         peers_of(
                             gmm.parameters(), [gmm](const auto* x, const double* points) { return gmm.value(x, points); },
                             [gmm](const auto&... x) { gmm.gradient(x...); }),
                         count, arguments);
  }
  if (kind == "lstm") {
    const Lstm lstm{std::stoul(first), std::stoul(second)};
    const auto value = [lstm](const auto* x, const double* others) { return lstm.value(x, others, others + lstm.states()); };
    const auto gradient = [lstm](const double* x, const double* others, double* result) {
      lstm.gradient(x, others, others + lstm.states(), result);
    };
    return serve_problem(lstm.draw(), peers_of(lstm.parameters(), value, gradient), count, arguments);
  }
  return serve_problem(Bundle{}.draw(), peers_of(Bundle{}), count, arguments);
}
