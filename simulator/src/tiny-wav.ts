/** A complete WAV of one silent sample. */
export const tinyWav: Uint8Array = Buffer.concat([
  Buffer.from("RIFF"),
  u32(38),
  Buffer.from("WAVEfmt "),
  u32(16),
  // PCM, one channel, 8000 samples of two bytes a second.
  Buffer.from([1, 0, 1, 0]),
  u32(8000),
  u32(16_000),
  Buffer.from([2, 0, 16, 0]),
  Buffer.from("data"),
  u32(2),
  Buffer.alloc(2),
]);

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
