// A network of latency/networks.cpp in onnxruntime, on one thread, with arrays that stay. The arguments are a file, and the
// shapes of the input x and the output y: `onnxruntime_latency FILE.onnx EXTENT... / EXTENT...`. latency.py compiles it for a
// folder with onnxruntime's header and library, and says what it reads and writes.
#include <onnxruntime_c_api.h>

#include <cstdlib>
#include <string_view>

#include "../latency/serve.hpp"

namespace {

const OrtApi* const api = OrtGetApiBase()->GetApi(ORT_API_VERSION);

void require(OrtStatus* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "onnxruntime: %s\n", api->GetErrorMessage(status));
  std::exit(1);
}
/// A tensor with memory of its own.
struct Array {
  std::vector<std::int64_t> shape;
  std::vector<float> elements;
  OrtValue* value = nullptr;

  void create(const OrtMemoryInfo* memory) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    elements.assign(count, 0.5f);
    require(api->CreateTensorWithDataAsOrtValue(memory, elements.data(), count * sizeof(float), shape.data(), shape.size(),
                                                ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
  }
};

}  // namespace

int main(int count, char** arguments) {
  Array x, y;
  Array* to = &x;
  for (int i = 2; i < count; ++i)
    if (std::string_view(arguments[i]) == "/") to = &y;
    else to->shape.push_back(std::atoll(arguments[i]));
  OrtEnv* environment = nullptr;
  OrtSessionOptions* options = nullptr;
  OrtSession* session = nullptr;
  OrtMemoryInfo* memory = nullptr;
  require(api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "latency", &environment));
  require(api->CreateSessionOptions(&options));
  require(api->SetIntraOpNumThreads(options, 1));
  require(api->SetInterOpNumThreads(options, 1));
  require(api->SetSessionGraphOptimizationLevel(options, ORT_ENABLE_ALL));
  require(api->CreateSession(environment, arguments[1], options, &session));
  require(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  x.create(memory);
  y.create(memory);
  const char *const inputs[] = {"x"}, *const outputs[] = {"y"};
  return serve_latency([&] { require(api->Run(session, nullptr, inputs, &x.value, 1, outputs, 1, &y.value)); });
}
