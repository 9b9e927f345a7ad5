#pragma once

#include <cstdint>
#include <vector>

// How attention is cut: which queries and which keys one call of a tile sees, and what threads share out.
namespace ingot::cpu {

struct AttentionSizes {
  int64_t batch = 1;
  int64_t heads = 1;                   // of keys and values
  int64_t group = 1;                   // heads of the query that share one of these
  int64_t queries = 1;                 // tokens
  std::vector<int64_t> segments = {};  // keys, in the pieces of memory that they lie in
  int64_t size = 1;                    // of a head of query and keys
  int64_t value_size = 1;

  int64_t keys() const;
};

// Rows (head of the group, query) of one head of keys: several whole heads, or part of the queries of one.
struct RowBlock {
  int64_t head = 0;
  int64_t query = 0;
  int64_t heads = 1;
  int64_t queries = 1;

  int64_t rows() const { return heads * queries; }
};

struct KeyBlock {
  size_t segment = 0;
  int64_t first = 0;  // within the segment
  int64_t count = 0;
  int64_t position = 0;  // among all keys
};

// Depends on the sizes alone, so that results do not depend on threads.
struct AttentionPlan {
  std::vector<RowBlock> rows;
  std::vector<KeyBlock> keys;
  size_t rows_together = 1;  // row blocks of a chunk: they share what is packed of a key block
  size_t splits = 1;         // chunks that share the keys of the same rows, where rows alone are too few

  size_t row_chunks() const { return (rows.size() + rows_together - 1) / rows_together; }
  int64_t most_rows() const;        // of a row block
  int64_t most_keys() const;        // of a key block
  int64_t most_chunk_rows() const;  // of the row blocks of a chunk
};

AttentionPlan plan_attention(const AttentionSizes& sizes);

}  // namespace ingot::cpu
