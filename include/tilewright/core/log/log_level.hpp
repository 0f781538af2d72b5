#pragma once

namespace tilewright {

/// Importance of a log line. As a limit, lines of this level and above are written; with `off`, none.
enum class LogLevel : unsigned char { trace, debug, info, warn, error, off };

}  // namespace tilewright
