#pragma once
// Which vectors kernels use. xsimd has those of x86 and 64-bit ARM. Elsewhere they are the compiler's, of 16 bytes where the
// machine has vectors, otherwise of 4 bytes, a float. A program that defines TILEWRIGHT_VECTOR_BYTES, 4 or 16, uses the
// compiler's vectors of that width on every machine.
#if !defined(TILEWRIGHT_VECTOR_BYTES) && !defined(__SSE2__) && !defined(__aarch64__)
#if defined(__wasm_simd128__) || defined(__ALTIVEC__) || defined(__ARM_NEON)
#define TILEWRIGHT_VECTOR_BYTES 16
#else
#define TILEWRIGHT_VECTOR_BYTES 4
#endif
#endif
#if defined(TILEWRIGHT_VECTOR_BYTES) && TILEWRIGHT_VECTOR_BYTES != 4 && TILEWRIGHT_VECTOR_BYTES != 16
#error "TILEWRIGHT_VECTOR_BYTES: 4 or 16 expected"
#endif
