#pragma once

namespace ingot::bench {

// Reads 512 MB on `threads` threads, each a part of its own; returns bytes per second. What a decoder that
// reads every weight once per token cannot beat.
double stream_read_rate(int threads);

}  // namespace ingot::bench
