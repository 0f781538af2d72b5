#pragma once
// MPI's functions in C; some installations would add their classes for C++, which need a library of their own.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <stdexcept>
#include <string>

namespace tilewright::internal {

/// Throws std::runtime_error for a status other than success.
inline void check_mpi(int status, const char* function) {
  if (status == MPI_SUCCESS) [[likely]]
    return;
  char text[MPI_MAX_ERROR_STRING + 1]{};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw std::runtime_error(std::string(function) + ": " + text);
}

}  // namespace tilewright::internal
