// A training step of an encoder layer of BERT-Large, for 128 tokens in float16.
#include "../ipu/bert.hpp"
#include "lab.hpp"

int main() { return lab::serve(bert::training<1>); }
