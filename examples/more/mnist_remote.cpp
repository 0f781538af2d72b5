// Trains the network of mnist.cpp with all variables and activations in remote memory. Layers take turns on the chip: each does
// all micro-batches, forward and later backward. Losses and variables are compared with those of the plain program.
//
// labels: more
// test: --limit-batches 20 --threads 1
// expect-regex: ^Losses differ from the plain program's by (0|[0-9.]+e-(0[7-9]|[1-9][0-9]))$
// expect-regex: ^Variables differ by (0|[0-9.]+e-(0[7-9]|[1-9][0-9]))$
// test: --limit-batches 3 --device ipu_model
// expect-regex: ^Losses differ from the plain program's by 0$
// expect-regex: ^Variables differ by 0$
#include <ranges>
#include <tilewright/transform/batch_serialise_gradients.hpp>
#include <vector>
#include <xtensor/xadapt.hpp>
#include <xtensor/xnorm.hpp>

#include "../tutorial/net.hpp"
#include "../tutorial/steps.hpp"
#include "../tutorial/training.hpp"

inline constexpr int batch_size = 8, micro_batches = 8, width = 512;

constexpr void train_plain(tw::Ir& ir) {
  tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = learning_rate}, {{batch_size, 28, 28}},
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

/// Layers of one kind: rows of variables, the graphs for all micro-batches, and the means of gradients, which they share.
struct Layers {
  tw::NamedRemoteBuffers variables;
  tw::BatchSerialFwdAndGrad serial;
  tw::NamedTensors means;

  /// A step loads `x` and `dy`, and stores `y` and, if it is given, `dx`.
  template <class Module>
  static constexpr Layers make(tw::Ir& ir, const Module& module, const tw::TensorSpec& spec,
                               std::initializer_list<std::string_view> names, const tw::LoadHandle& x, const tw::RemoteHandle& y,
                               const tw::RemoteHandle& dy, const std::optional<tw::RemoteHandle>& dx = {}) {
    const auto [factories, forward] = tw::create_graph(ir, module, spec);
    const tw::Tensor input = forward.graph().input(0);
    tw::AutodiffOptions options;
    if (dx) options.grads_required = {{input}};
    const auto [mean_factories, gradient] = tw::autodiff_with_accumulation(forward, forward.args(), options);
    tw::BatchSerialOptions handles{.load_handles = {{input, x}, {gradient.graph().input(0), dy}},
                                   .store_buffers = {{forward.graph().output(0), y}},
                                   .rows = std::ssize(names),
                                   .io_mode = tw::IoMode::io_overlapped};
    if (dx) handles.store_buffers.push_back({gradient.graph().output(0), *dx});
    const auto variables = tw::named_variable_buffers(factories, std::ssize(names));
    int row = 0;
    for (const std::string_view name : names) factories.init_remote(variables, row++, name);
    return {variables, tw::batch_serialise_fwd_and_grad(forward, gradient, forward.args(), micro_batches, handles),
            mean_factories.init("gradients")};
  }
  constexpr void run_forward(tw::Ir& ir, int row) const {
    serial.forward.graph.bind(tw::load_remote(variables, row)).call(ir.constant(row, tw::uint32));
  }
  /// Adds the gradients of all micro-batches to the means, and updates the variables.
  constexpr void run_backward(tw::Ir& ir, int row) const {
    const tw::NamedTensors loaded = tw::load_remote(variables, row);
    tw::NamedTensors args = loaded;
    args.update(means);
    tw::ops::accumulator_zero_(means["mean_accum_counter"]);
    serial.gradient.graph.bind(args).call(ir.constant(row, tw::uint32));
    for (const auto& [name, variable] : loaded.named_tensors())
      tw::ops::scaled_add_(variable, means[tw::text("accum.", name).view()], {.b = -learning_rate});
    tw::store_remote(variables, loaded, row);
  }
};

constexpr void train_remote(tw::Ir& ir) {
  const tw::TensorSpec inner{{batch_size, width}, tw::float32}, logits{{batch_size, 10}, tw::float32};
  // block k of `between` has the outputs of layer k for all micro-batches, and `differences` has their gradients
  const auto between = ir.remote_buffer(inner.shape), differences = ir.remote_buffer(inner.shape),
             outputs = ir.remote_buffer(logits.shape), output_gradients = ir.remote_buffer(logits.shape);
  const Layers first = Layers::make(ir, Layer<width>{}, {{batch_size, 28, 28}}, {"fc1"},
                                    ir.h2d_stream("image", {batch_size, 28, 28}), {between}, {differences});
  const Layers middle = Layers::make(ir, Layer<width>{}, inner, {"fc2", "fc3"}, between, {between, 1}, {differences, 1},
                                     {{differences}});
  const Layers last = Layers::make(ir, Layer<10, false>{}, inner, {"fc4"}, {between, 2}, {outputs}, {output_gradients},
                                   {{differences, 2}});
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
  const std::pair<const Layers*, int> order[] = {{&first, 0}, {&middle, 0}, {&middle, 1}, {&last, 0}};
  for (const auto& [layers, row] : order) layers->run_forward(ir, row);
  serial_losses.graph.call(ir.constant(0, tw::uint32));
  for (const auto& [layers, row] : std::views::reverse(order)) layers->run_backward(ir, row);
}

/// The norm of a - b, relative to that of b.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  const auto exact_a = xt::cast<double>(xt::adapt(a)), exact_b = xt::cast<double>(xt::adapt(b));
  return xt::norm_l2(exact_a - exact_b)() / xt::norm_l2(exact_b)();
}
std::vector<float> variables_of(const auto& session) {
  std::vector<float> all;
  for (const tw::HostTensor& tensor : session.host_tensors())
    if (tensor.name.starts_with("fc"))
      for (std::size_t i = 0; i < tensor.bytes.size(); i += 4) std::memcpy(&all.emplace_back(), &tensor.bytes[i], 4);
  return all;
}

template <tw::Target device>
void train_both(const Options& options, const tw::data::Digits& digits) {
  using namespace tw::literals;
  const tw::SessionOptions session_options{.seed = options.seed, .threads = options.threads, .strict = options.strict};
  tw::Session<train_plain, device> plain(session_options);
  tw::Session<train_remote, device> remote(session_options);
  remote.load_from_session(plain, tw::LoadPolicy{.only = {"fc*"}});
  const auto train = [&]<class Session>(Session& session) {
    tw::data::Loader batches(digits.train, {.batch_size = tw::train::batch_size<Session>, .shuffle = true});
    std::vector<float> losses;
    tw::train::run_epochs(session, batches, {.limit_batches = options.limit_batches}, [&](const auto&, const auto& outputs) {
      losses.insert(losses.end(), outputs["loss"_s].begin(), outputs["loss"_s].end());
    });
    return losses;
  };
  std::printf("Losses differ from the plain program's by %g\n", difference(train(remote), train(plain)));
  std::printf("Variables differ by %g\n", difference(variables_of(remote), variables_of(plain)));
}

constexpr tw::Target with_io_tiles(const tw::Target& device) { return device.ipu ? device.with_io_tiles(32) : device; }
int main(int argc, char** argv) {
  return run_mnist_program(
      argc, argv, "Trains a network on MNIST, with its variables in remote memory, and compares it with the plain program.",
      [](const Options& options, const tw::data::Digits& digits) {
        tw::visit_device(options.device, [&](auto device) { train_both<with_io_tiles(device.value)>(options, digits); });
      });
}
