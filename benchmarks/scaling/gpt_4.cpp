// A step of W8 with four replicas.
#include "measure.hpp"

int main() { measure<train_gpt<4>, 4>(3, 1, 1, 128, 1, 128, GptBlock::width); }
