// Trains the network of mnist.cpp with its variables and activations in remote memory. The layers take turns on the chip: each
// processes all micro-batches, forward and later backward, before the next one's variables are loaded. The program also trains
// the network without any of this, and compares the losses and the variables.
//
// labels: more
// test: --limit-batches 20 --threads 1
// expect-regex: ^Difference from the plain program: (0|[0-9.]+e-(0[7-9]|[1-9][0-9])) of the losses' norm,
// (0|[0-9.]+e-(0[7-9]|[1-9][0-9])) of the variables'$ test: --limit-batches 3 --device ipu_model expect: Difference from the
// plain program: 0 of the losses' norm, 0 of the variables' test: --data $TILEWRIGHT_MNIST --limit-batches 150 test-needs:
// TILEWRIGHT_MNIST expect-regex: ^Accuracy on test set: (8[5-9]|9[0-9])\.[0-9]{2}%$
#include <cmath>
#include <tilewright/transform/batch_serialise_gradients.hpp>
#include <vector>

#include "../tutorial/net.hpp"
#include "../tutorial/steps.hpp"
#include "../tutorial/training.hpp"

inline constexpr int batch_size = 8, micro_batches = 8, width = 512;
inline constexpr double rate = micro_batches * learning_rate;

constexpr void train_plain(tw::Ir& ir) {
  tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = rate}, {{batch_size, 28, 28}},
                        {.micro_batches = micro_batches});
}

/// A layer of Net, with the gelu behind it; the last layer has none.
template <int out_features, bool has_gelu = true>
struct Layer : tw::Module<Layer<out_features, has_gelu>> {
  constexpr tw::Tensor build(tw::Tensor x) {
    x = x.reshape({batch_size, -1});
    const auto weight = this->add_variable_input("weight", tw::normal(0, 0.02), {x.shape(-1), out_features});
    x = x.matmul(weight) + this->add_variable_input("bias", tw::zeros(), {out_features});
    return has_gelu ? tw::ops::gelu(x) : x;
  }
};

/// One or several layers of one kind: rows with their variables, the graphs that process all micro-batches, and the means of
/// gradients, which the layers share.
struct Layers {
  tw::NamedRemoteBuffers variables;
  tw::BatchSerialFwdAndGrad serial;
  tw::NamedTensors means;

  /// Where a step loads x and dy, and where it stores y and dx. dx is optional.
  struct Rows {
    tw::LoadHandle x;
    tw::RemoteHandle y, dy;
    std::optional<tw::RemoteHandle> dx{};
  };
  template <class Module>
  static constexpr Layers make(tw::Ir& ir, const Module& module, const tw::TensorSpec& x,
                               std::initializer_list<std::string_view> names, const Rows& rows) {
    const auto [factories, forward] = tw::create_graph(ir, module, x);
    const tw::Tensor in = forward.graph().input(0);
    tw::AutodiffOptions options;
    if (rows.dx) options.grads_required = {{in}};
    const auto [mean_factories, gradient] = tw::autodiff_with_accumulation(forward, forward.args(), options);
    const auto count = static_cast<std::int64_t>(names.size());
    tw::BatchSerialOptions handles{.load_handles = {{in, rows.x}, {gradient.graph().input(0), rows.dy}},
                                   .store_buffers = {{forward.graph().output(0), rows.y}},
                                   .rows = count,
                                   .io_mode = tw::IoMode::io_overlapped};
    if (rows.dx) handles.store_buffers.push_back({gradient.graph().output(0), *rows.dx});
    const auto variables = tw::named_variable_buffers(factories, count);
    int row = 0;
    for (const std::string_view name : names) factories.init_remote(variables, row++, name);
    return {variables, tw::batch_serialise_fwd_and_grad(forward, gradient, forward.args(), micro_batches, handles),
            mean_factories.init("gradients")};
  }
  constexpr void run_forward(tw::Ir& ir, int row = 0) const {
    serial.forward.graph.bind(tw::load_remote(variables, row)).call(ir.constant(row, tw::uint32));
  }
  /// Adds the gradients of all micro-batches to the means, and updates the variables.
  constexpr void run_backward(tw::Ir& ir, int row = 0) const {
    const tw::NamedTensors loaded = tw::load_remote(variables, row);
    tw::NamedTensors args = loaded;
    args.update(means);
    tw::ops::accumulator_zero_(means["mean_accum_counter"]);
    serial.gradient.graph.bind(args).call(ir.constant(row, tw::uint32));
    for (const auto& [name, variable] : loaded.named_tensors())
      tw::ops::scaled_add_(variable, means[tw::text("accum.", name).view()], {.b = -rate});
    tw::store_remote(variables, loaded, row);
  }
};

constexpr void train_remote(tw::Ir& ir) {
  const tw::TensorSpec inner{{batch_size, width}, tw::float32}, logits{{batch_size, 10}, tw::float32};
  const auto buffer = [&](const tw::TensorSpec& spec) { return ir.remote_buffer(spec.shape, spec.dtype); };
  // block k of `between` has the outputs of layer k for all micro-batches, and `differences` has their gradients
  const auto between = buffer(inner), differences = buffer(inner), outputs = buffer(logits), output_gradients = buffer(logits);
  const auto images = ir.h2d_stream("image", {batch_size, 28, 28});
  const Layers first = Layers::make(ir, Layer<width>{}, {{batch_size, 28, 28}}, {"fc1"}, {images, {between}, {differences}});
  const Layers middle = Layers::make(ir, Layer<width>{}, inner, {"fc2", "fc3"},
                                     {between, {between, 1}, {differences, 1}, tw::RemoteHandle{differences}});
  const Layers last = Layers::make(ir, Layer<10, false>{}, inner, {"fc4"},
                                   {{between, 2}, {outputs}, {output_gradients}, tw::RemoteHandle{differences, 2}});
  const auto loss = [](tw::Tensor x, tw::Tensor labels) {
    const auto [mean, dx] = tw::ops::cross_entropy_with_grad(x, labels);
    return std::array{mean, dx};
  };
  const tw::Graph losses = ir.create_graph(loss, logits, tw::TensorSpec{{batch_size}, tw::int32});
  const auto serial_losses = tw::batch_serialise(
      losses, micro_batches,
      {.load_handles = {{losses.input(0), outputs}, {losses.input(1), ir.h2d_stream("label", {batch_size}, tw::int32)}},
       .store_streams = {{losses.output(0), ir.d2h_stream("loss", {})}},
       .store_buffers = {{losses.output(1), {output_gradients}}},
       .io_mode = tw::IoMode::io_overlapped});

  first.run_forward(ir);
  for (int row = 0; row < 2; ++row) middle.run_forward(ir, row);
  last.run_forward(ir);
  serial_losses.graph.call(ir.constant(0, tw::uint32));
  last.run_backward(ir);
  for (int row = 2; row-- > 0;) middle.run_backward(ir, row);
  first.run_backward(ir);
}

/// The norm of a - b, relative to that of b.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double of_difference = 0, of_b = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    of_difference += std::pow(static_cast<double>(a.at(i)) - static_cast<double>(b[i]), 2);
    of_b += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(of_difference / of_b);
}

template <class Session>
std::vector<float> train(Session& session, const Options& options, const tw::data::Digits& digits) {
  using namespace tw::literals;
  tw::data::Loader loader(digits.train, {.batch_size = tw::train::batch_size<Session>, .shuffle = true, .seed = options.seed});
  std::vector<float> losses;
  tw::train::run_epochs(session, loader, {.limit_batches = options.limit_batches}, [&](const auto&, const auto& outputs) {
    losses.insert(losses.end(), outputs["loss"_s].begin(), outputs["loss"_s].end());
  });
  return losses;
}
/// The elements of Net's variables.
std::vector<float> variables_of(const auto& session) {
  std::vector<float> all;
  for (const tw::HostTensor& tensor : session.host_tensors())
    if (tensor.name.starts_with("fc"))
      for (std::size_t i = 0; i < tensor.bytes.size(); i += 4) std::memcpy(&all.emplace_back(), &tensor.bytes[i], 4);
  return all;
}
template <tw::Target device>
void train_both(const Options& options, const tw::data::Digits& digits) {
  const tw::SessionOptions session_options{.seed = options.seed, .threads = options.threads, .strict = options.strict};
  tw::Session<train_plain, device> plain(session_options);
  tw::Session<train_remote, device> remote(session_options);
  remote.load_from_session(plain, tw::LoadPolicy{.only = {"fc*"}});
  const double losses = difference(train(remote, options, digits), train(plain, options, digits));
  std::printf("Difference from the plain program: %g of the losses' norm, %g of the variables'\n", losses,
              difference(variables_of(remote), variables_of(plain)));
  tw::Session<test_step<Net, 80, 28, 28>, device> test({.threads = options.threads});
  test.load_from_session(remote);
  std::printf("Accuracy on test set: %.2f%%\n", 100 * tw::train::accuracy(test, digits.test));
}

int main(int argc, char** argv) {
  return run_mnist_program(argc, argv, "Trains a network on MNIST, with its variables in remote memory, and tests it.",
                           [](const Options& options, const tw::data::Digits& digits) {
                             tw::visit_device<tw::cpu, tw::ipu_model>(options.device, [&](auto device) {
                               if constexpr (device.value.ipu == nullptr) train_both<device.value>(options, digits);
                               else train_both<device.value.with_io_tiles(32)>(options, digits);
                             });
                           });
}
