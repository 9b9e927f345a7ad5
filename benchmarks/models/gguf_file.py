"""The decoders of llama.py for llama.cpp: GGUF files of the same shapes with random weights and no vocabulary."""
import gguf
import numpy as np


def write(path, name, shape):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(name)
    writer.add_context_length(2048)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.inner)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(shape.head_size)
    writer.add_vocab_size(shape.vocabulary)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_tokenizer_model("no_vocab")
    add_weights(writer, shape)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_weights(writer, shape):
    random = np.random.default_rng(0)

    def matrix(name, rows, columns):
        values = random.standard_normal((rows, columns), np.float32) * np.float32(columns ** -0.5)
        writer.add_tensor(f"{name}.weight", values.astype(np.float16))

    def norm(name):
        writer.add_tensor(f"{name}.weight", np.ones(shape.width, np.float32))

    kv_width = shape.kv_heads * shape.head_size
    matrix("token_embd", shape.vocabulary, shape.width)
    norm("output_norm")
    matrix("output", shape.vocabulary, shape.width)
    for layer in range(shape.layers):
        block = f"blk.{layer}"
        matrix(f"{block}.attn_q", shape.width, shape.width)
        matrix(f"{block}.attn_k", kv_width, shape.width)
        matrix(f"{block}.attn_v", kv_width, shape.width)
        matrix(f"{block}.attn_output", shape.width, shape.width)
        matrix(f"{block}.ffn_gate", shape.inner, shape.width)
        matrix(f"{block}.ffn_up", shape.inner, shape.width)
        matrix(f"{block}.ffn_down", shape.width, shape.inner)
        norm(f"{block}.attn_norm")
        norm(f"{block}.ffn_norm")
