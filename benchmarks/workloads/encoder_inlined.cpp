// W6: forward and backward of 12 encoder blocks as in W4, each with code of its own.
#include "encoder.hpp"

int main(int argc, char** argv) { return serve_encoder<EncoderInlined<12>>(argc, argv); }
