// The image as data that may be executed.
asm(R"(
  .section .text.ingot_embedded_kernels, "ax", @progbits
  .balign 64
  .globl ingot_embedded_kernels
  .hidden ingot_embedded_kernels
ingot_embedded_kernels:
  .incbin ")" INGOT_KERNEL_IMAGE R"("
  .globl ingot_embedded_kernels_end
  .hidden ingot_embedded_kernels_end
ingot_embedded_kernels_end:
  .text
)");
