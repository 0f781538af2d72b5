// The library of tilewright_precompile: code that is equal in all programs, compiled with the options of the user's targets.
#include <tilewright/data/loading/loader_order_code.hpp>
#include <tilewright/data/loading/prefetch_thread_code.hpp>
#include <tilewright/session/session_core_code.hpp>
#ifdef TILEWRIGHT_LIBRARY_KERNELS
#include <tilewright/execute/library/library_program_code.hpp>
#endif

template class tilewright::detail::SessionCore<tilewright::ThisBuild>;
template class tilewright::data::detail::LoaderOrder<tilewright::ThisBuild>;
template class tilewright::data::detail::PrefetchThread<tilewright::ThisBuild>;
#ifdef TILEWRIGHT_LIBRARY_KERNELS
template class tilewright::internal::LibraryProgram<tilewright::ThisBuild>;
#endif
