#pragma once
// Layers with gradients out of oneDNN's primitives. `forward` adds primitives to the network's forward pass and gives the result,
// `backward` those of the backward pass, from the gradient of the result to that of the input.
#include "onednn.hpp"

namespace onednn {

/// x w^T + bias. x: (rows, ...); weight: (out, ...); result: (rows, out).
class Linear {
 public:
  /// `attributes` and `more` are those of an operation after it.
  memory forward(Network& network, const memory& x, std::int64_t out, const primitive_attr& attributes = {},
                 Arguments more = {}) {
    x_ = x, out_ = out, weight_dims_ = dims_of(x.get_desc());
    const auto rows = std::exchange(weight_dims_[0], out);
    const float limit = 1 / std::sqrt(static_cast<float>(count(weight_dims_) / out));
    primitive_ = described<Forward>(attributes, prop_kind::forward_training, x.get_desc(), any(weight_dims_), dense({out}),
                                    dense({rows, out}));
    weight_ = network.add_parameter(primitive_.weights_desc(), weight_dims_, 0, limit);
    bias_ = network.add_parameter(dense({out}), {out}, 0, limit);
    const memory y = zeros(primitive_.dst_desc());
    more.insert({{DNNL_ARG_SRC, x},
                 {DNNL_ARG_WEIGHTS, network.value(weight_)},
                 {DNNL_ARG_BIAS, network.value(bias_)},
                 {DNNL_ARG_DST, y}});
    network.forward.add(Forward(primitive_), more);
    return y;
  }
  memory backward(Network& network, const memory& dy) {
    Program& program = network.backward;
    const auto of_input = described_backward<OfInput>(primitive_, x_.get_desc(), any(weight_dims_), dy.get_desc());
    const memory dx = zeros(x_.get_desc());
    program.add(OfInput(of_input), {{DNNL_ARG_DIFF_DST, dy},
                                    {DNNL_ARG_DIFF_SRC, dx},
                                    {DNNL_ARG_WEIGHTS, program.in_format(network.value(weight_), of_input.weights_desc())}});
    const auto of_weights = described_of_weights(network.value(weight_).get_desc(), dy);
    const memory dw = zeros(of_weights.diff_weights_desc()), db = zeros(dense({out_}));
    program.add(OfWeights(of_weights),
                {{DNNL_ARG_SRC, x_}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_WEIGHTS, dw}, {DNNL_ARG_DIFF_BIAS, db}});
    network.set_gradient(weight_, dw), network.set_gradient(bias_, db);
    return dx;
  }

 private:
  using Forward = dnnl::inner_product_forward;
  using OfInput = dnnl::inner_product_backward_data;
  using OfWeights = dnnl::inner_product_backward_weights;

  /// In the weight's format if that has more than the reference implementation, else in the one that is the primitive's choice.
  OfWeights::primitive_desc described_of_weights(const Desc& weight, const memory& dy) const {
    const auto of = [&](const Desc& desc) {
      return described_backward<OfWeights>(primitive_, x_.get_desc(), desc, dense({out_}), dy.get_desc());
    };
    const auto same = of(weight);
    return std::strstr(same.impl_info_str(), "ref") ? of(any(weight_dims_)) : same;
  }

  std::int64_t out_ = 0;
  Dims weight_dims_;
  std::size_t weight_ = 0, bias_ = 0;
  memory x_;
  Forward::primitive_desc primitive_;
};

/// A convolution without padding, with bias and relu. x: (batch, in, height, width); weight: (out, in, kernel, kernel).
class ConvRelu {
 public:
  memory forward(Network& network, const memory& x, std::int64_t out, std::int64_t kernel) {
    const Dims in = dims_of(x.get_desc());
    weight_dims_ = {out, in[1], kernel, kernel}, out_dims_ = {in[0], out, in[2] - kernel + 1, in[3] - kernel + 1};
    const float limit = 1 / std::sqrt(static_cast<float>(count(weight_dims_) / out));
    primitive_ = described<Forward>(then(algorithm::eltwise_relu), prop_kind::forward_training, algorithm::convolution_direct,
                                    wanted(x), any(weight_dims_), dense({out}), any(out_dims_), strides, borders, borders);
    x_ = network.forward.in_format(x, primitive_.src_desc());
    weight_ = network.add_parameter(primitive_.weights_desc(), weight_dims_, 0, limit);
    bias_ = network.add_parameter(dense({out}), {out}, 0, limit);
    y_ = zeros(primitive_.dst_desc());
    network.forward.add(Forward(primitive_), {{DNNL_ARG_SRC, x_},
                                              {DNNL_ARG_WEIGHTS, network.value(weight_)},
                                              {DNNL_ARG_BIAS, network.value(bias_)},
                                              {DNNL_ARG_DST, y_}});
    return y_;
  }
  /// The gradient of the input, unless it is not wanted. dy is overwritten.
  memory backward(Network& network, const memory& dy, bool of_input = true) {
    Program& program = network.backward;
    add_slope<dnnl::eltwise_forward, dnnl::eltwise_backward>(program, dy);
    const auto of_weights = described_backward<OfWeights>(primitive_, algorithm::convolution_direct, wanted(x_),
                                                          any(weight_dims_), dense({out_dims_[1]}), any(out_dims_), strides,
                                                          borders, borders);
    const memory dw = zeros(of_weights.diff_weights_desc()), db = zeros(dense({out_dims_[1]}));
    program.add(OfWeights(of_weights), {{DNNL_ARG_SRC, program.in_format(x_, of_weights.src_desc())},
                                        {DNNL_ARG_DIFF_DST, program.in_format(dy, of_weights.diff_dst_desc())},
                                        {DNNL_ARG_DIFF_WEIGHTS, dw},
                                        {DNNL_ARG_DIFF_BIAS, db}});
    network.set_gradient(weight_, dw), network.set_gradient(bias_, db);
    if (!of_input) return {};
    const auto of_x = described_backward<OfInput>(primitive_, algorithm::convolution_direct, any(dims_of(x_.get_desc())),
                                                  any(weight_dims_), any(out_dims_), strides, borders, borders);
    const memory dx = zeros(of_x.diff_src_desc());
    program.add(OfInput(of_x), {{DNNL_ARG_DIFF_DST, program.in_format(dy, of_x.diff_dst_desc())},
                                {DNNL_ARG_WEIGHTS, program.in_format(network.value(weight_), of_x.weights_desc())},
                                {DNNL_ARG_DIFF_SRC, dx}});
    return program.in_format(dx, x_.get_desc());
  }

 private:
  using Forward = dnnl::convolution_forward;
  using OfInput = dnnl::convolution_backward_data;
  using OfWeights = dnnl::convolution_backward_weights;
  inline static const Dims strides{1, 1}, borders{0, 0};

  /// Images of one channel are taken as they are: blocks of channels would be mostly padding.
  static Desc wanted(const memory& x) {
    const Dims dims = dims_of(x.get_desc());
    return dims[1] == 1 ? x.get_desc() : any(dims);
  }
  /// dy becomes the gradient of what relu was given.
  template <class Relu, class Slope>
  void add_slope(Program& program, const memory& dy) const {
    const Desc desc = y_.get_desc();
    constexpr algorithm function = algorithm::eltwise_relu_use_dst_for_bwd;
    const auto slope = [&] {
      if constexpr (has_descs<Relu>)
        return described_backward<Slope>(described<Relu>({}, prop_kind::forward_training, function, desc, 0.f, 0.f), function,
                                         desc, desc, 0.f, 0.f);
      else
        return described_backward<Slope>(described<Relu>({}, prop_kind::forward_training, function, desc, desc, 0.f, 0.f),
                                         function, desc, desc, desc, 0.f, 0.f);
    }();
    program.add(Slope(slope), {{DNNL_ARG_DST, y_}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dy}});
  }

  Dims weight_dims_, out_dims_;
  std::size_t weight_ = 0, bias_ = 0;
  memory x_, y_;
  Forward::primitive_desc primitive_;
};

/// The maximum of each 2 x 2 places.
template <class Forward = dnnl::pooling_forward, class Backward = dnnl::pooling_backward>
class MaxPool {
 public:
  memory forward(Network& network, const memory& x) {
    const Dims in = dims_of(x.get_desc()), out{in[0], in[1], in[2] / 2, in[3] / 2};
    x_ = x.get_desc(), y_ = any(out);
    primitive_ = [&] {
      constexpr auto training = prop_kind::forward_training;
      if constexpr (has_descs<Forward>)
        return described<Forward>({}, training, algorithm::pooling_max, x_, y_, window, window, none, none);
      else return described<Forward>({}, training, algorithm::pooling_max, x_, y_, window, window, none, none, none);
    }();
    const memory y = zeros(primitive_.dst_desc());
    places_ = zeros(primitive_.workspace_desc());
    network.forward.add(Forward(primitive_), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}, {DNNL_ARG_WORKSPACE, places_}});
    return y;
  }
  memory backward(Network& network, const memory& dy) {
    const auto primitive = [&] {
      const Desc given = dy.get_desc();
      if constexpr (has_descs<Backward>)
        return described_backward<Backward>(primitive_, algorithm::pooling_max, x_, given, window, window, none, none);
      else return described_backward<Backward>(primitive_, algorithm::pooling_max, x_, given, window, window, none, none, none);
    }();
    const memory dx = zeros(x_);
    network.backward.add(Backward(primitive), {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}, {DNNL_ARG_WORKSPACE, places_}});
    return dx;
  }

 private:
  inline static const Dims window{2, 2}, none{0, 0};
  Desc x_, y_;
  memory places_;
  typename Forward::primitive_desc primitive_;
};

/// gelu by tanh.
template <class Forward = dnnl::eltwise_forward, class Backward = dnnl::eltwise_backward>
class Gelu {
 public:
  memory forward(Network& network, const memory& x) {
    const Desc desc = x.get_desc();
    x_ = x;
    primitive_ = [&] {
      if constexpr (has_descs<Forward>) return described<Forward>({}, prop_kind::forward_training, function, desc, 0.f, 0.f);
      else return described<Forward>({}, prop_kind::forward_training, function, desc, desc, 0.f, 0.f);
    }();
    const memory y = zeros(desc);
    network.forward.add(Forward(primitive_), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}});
    return y;
  }
  /// dy is overwritten.
  memory backward(Network& network, const memory& dy) {
    const Desc desc = x_.get_desc();
    const auto primitive = [&] {
      if constexpr (has_descs<Backward>) return described_backward<Backward>(primitive_, function, desc, desc, 0.f, 0.f);
      else return described_backward<Backward>(primitive_, function, desc, desc, desc, 0.f, 0.f);
    }();
    network.backward.add(Backward(primitive), {{DNNL_ARG_SRC, x_}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dy}});
    return dy;
  }

 private:
  static constexpr algorithm function = algorithm::eltwise_gelu_tanh;
  memory x_;
  typename Forward::primitive_desc primitive_;
};

/// Layer normalisation over the last axis, with weight and bias. x: (rows, columns).
template <class Forward = dnnl::layer_normalization_forward, class Backward = dnnl::layer_normalization_backward>
class LayerNorm {
 public:
  /// Adds its parameters, so that these have the order of PyTorch's.
  void add_parameters(Network& network, std::int64_t columns) {
    weight_ = network.add_parameter(dense({columns}), {columns}, 1, 0);
    bias_ = network.add_parameter(dense({columns}), {columns}, 0, 0);
  }
  memory forward(Network& network, const memory& x) {
    const Desc desc = x.get_desc();
    x_ = x;
    primitive_ = [&] {
      if constexpr (has_descs<Forward>) return described<Forward>({}, prop_kind::forward_training, desc, epsilon, flags);
      else return described<Forward>({}, prop_kind::forward_training, desc, desc, epsilon, flags);
    }();
    mean_ = zeros(primitive_.mean_desc()), variance_ = zeros(primitive_.variance_desc());
    const memory y = zeros(desc);
    network.forward.add(Forward(primitive_), with_parameters(network, {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}));
    return y;
  }
  memory backward(Network& network, const memory& dy) {
    const Desc desc = x_.get_desc();
    const auto primitive = [&] {
      constexpr auto all = prop_kind::backward;
      if constexpr (has_descs<Backward>) return described_backward<Backward>(primitive_, all, desc, desc, epsilon, flags);
      else return described_backward<Backward>(primitive_, all, desc, desc, desc, epsilon, flags);
    }();
    const memory dx = zeros(desc), dw = zeros(network.value(weight_).get_desc()), db = zeros(network.value(bias_).get_desc());
    network.backward.add(Backward(primitive), with_parameters(network, {{DNNL_ARG_SRC, x_},
                                                                        {DNNL_ARG_DIFF_DST, dy},
                                                                        {DNNL_ARG_DIFF_SRC, dx},
                                                                        {DNNL_ARG_DIFF_SCALE, dw},
                                                                        {DNNL_ARG_DIFF_SHIFT, db}}));
    network.set_gradient(weight_, dw), network.set_gradient(bias_, db);
    return dx;
  }

 private:
  static constexpr float epsilon = 1e-5f;
  inline static const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;

  Arguments with_parameters(const Network& network, Arguments arguments) const {
    arguments.insert({{DNNL_ARG_MEAN, mean_},
                      {DNNL_ARG_VARIANCE, variance_},
                      {DNNL_ARG_SCALE, network.value(weight_)},
                      {DNNL_ARG_SHIFT, network.value(bias_)}});
    return arguments;
  }

  std::size_t weight_ = 0, bias_ = 0;
  memory x_, mean_, variance_;
  typename Forward::primitive_desc primitive_;
};

/// A part of a matrix in rows, as the heads of an attention see it.
struct Heads {
  std::int64_t batch, heads, sequence, size;

  /// (batch, heads, sequence, size) of columns of a matrix with so many of them; or with the last two axes in turn.
  Desc of(std::int64_t columns, bool transposed = false) const {
    return transposed ? strided({batch, heads, size, sequence}, {sequence * columns, size, 1, columns})
                      : strided({batch, heads, sequence, size}, {sequence * columns, size, columns, 1});
  }
  Desc scores(bool transposed = false) const {
    const auto plane = sequence * sequence;
    return strided({batch, heads, sequence, sequence},
                   transposed ? Dims{heads * plane, plane, 1, sequence} : Dims{heads * plane, plane, sequence, 1});
  }
};

/// softmax(q k^T / sqrt(size)) v. q, k, v side by side: (batch sequence, 3 heads size); result: (batch sequence, heads size).
template <class Forward = dnnl::softmax_forward, class Backward = dnnl::softmax_backward>
class Attention {
 public:
  explicit Attention(const Heads& heads) : heads_(heads) {}

  memory forward(Network& network, const memory& qkv) {
    const Desc scores = heads_.scores();
    qkv_ = qkv, probabilities_ = zeros(scores);
    const memory raw = zeros(scores), y = zeros(dense({heads_.batch * heads_.sequence, width()}));
    multiply(network.forward, viewed(qkv, part()), viewed(qkv, part(true), width()), raw, scale());
    primitive_ = [&] {
      if constexpr (has_descs<Forward>) return described<Forward>({}, prop_kind::forward_training, scores, 3);
      else return described<Forward>({}, prop_kind::forward_training, algorithm::softmax_accurate, scores, scores, 3);
    }();
    network.forward.add(Forward(primitive_), {{DNNL_ARG_SRC, raw}, {DNNL_ARG_DST, probabilities_}});
    multiply(network.forward, probabilities_, viewed(qkv, part(), 2 * width()), viewed(y, heads_.of(width())));
    return y;
  }
  memory backward(Network& network, const memory& dy) {
    Program& program = network.backward;
    const Desc scores = heads_.scores();
    const memory result = zeros(qkv_.get_desc()), dp = zeros(scores), ds = zeros(scores),
                 dy_heads = viewed(dy, heads_.of(width()));
    multiply(program, dy_heads, viewed(qkv_, part(true), 2 * width()), dp);
    multiply(program, viewed(probabilities_, heads_.scores(true)), dy_heads, viewed(result, part(), 2 * width()));
    const auto slope = [&] {
      if constexpr (has_descs<Backward>) return described_backward<Backward>(primitive_, scores, scores, 3);
      else return described_backward<Backward>(primitive_, algorithm::softmax_accurate, scores, scores, scores, 3);
    }();
    program.add(Backward(slope), {{DNNL_ARG_DST, probabilities_}, {DNNL_ARG_DIFF_DST, dp}, {DNNL_ARG_DIFF_SRC, ds}});
    multiply(program, ds, viewed(qkv_, part(), width()), viewed(result, part()), scale());
    multiply(program, viewed(ds, heads_.scores(true)), viewed(qkv_, part()), viewed(result, part(), width()), scale());
    return result;
  }

 private:
  std::int64_t width() const { return heads_.heads * heads_.size; }
  float scale() const { return 1 / std::sqrt(static_cast<float>(heads_.size)); }
  Desc part(bool transposed = false) const { return heads_.of(3 * width(), transposed); }
  /// result = factor a b, for each head.
  static void multiply(Program& program, const memory& a, const memory& b, const memory& result, float factor = 1) {
    const auto attributes = factor == 1 ? primitive_attr() : then(algorithm::eltwise_linear, factor);
    const auto product = described<dnnl::matmul>(attributes, a.get_desc(), b.get_desc(), result.get_desc());
    program.add(dnnl::matmul(product), {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, result}});
  }

  Heads heads_;
  memory qkv_, probabilities_;
  typename Forward::primitive_desc primitive_;
};

}  // namespace onednn
