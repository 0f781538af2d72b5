// W6: forward and backward of 12 encoder blocks as in W4, as calls of one graph.
#include "encoder.hpp"

int main(int argc, char** argv) { return serve_encoder<EncoderOutlined<12>>(argc, argv); }
