import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { accepted, chat, chatOf, type HostileShape, MiB, many, refused, userMessage } from "./hostile-shape.ts";

const compressors: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  gzip: (bytes) => gzipSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: (bytes) => zstdCompressSync(bytes),
};

export const compressed: readonly HostileShape[] = [
  ...Object.entries(compressors).flatMap(([encoding, compress]): HostileShape[] => [
    {
      name: `${encoding}: a decompression bomb of 64 MiB`,
      path: chat,
      headers: { "content-encoding": encoding },
      body: () => compress(Buffer.alloc(64 * MiB, "x")),
      answers: refused,
    },
    {
      name: `${encoding}: a decompression bomb with a million messages`,
      path: chat,
      headers: { "content-encoding": encoding },
      body: () => compress(Buffer.from(chatOf("claude", () => many(1_000_000, userMessage))())),
      answers: refused,
    },
    {
      name: `${encoding}: 30 MiB that compress little enough to be accepted`,
      path: chat,
      headers: { "content-encoding": encoding },
      body: () =>
        compress(
          Buffer.from(`{"model":"openai","messages":[${userMessage}],"x":"${noise(8 * MiB)}${"a".repeat(22 * MiB)}"}`),
        ),
      answers: accepted,
    },
    {
      name: `${encoding}: an asset with two million fields`,
      path: "/v1/assets",
      headers: { "content-encoding": encoding },
      body: () => compress(Buffer.from(`{${many(2_000_000, (at) => `"k${at}":1`)}}`)),
      answers: refused,
    },
    {
      name: `${encoding}: a body that is not compressed`,
      path: chat,
      headers: { "content-encoding": encoding },
      body: () => "x".repeat(200_000),
      answers: [400],
    },
  ]),
  {
    name: "gzip in gzip",
    path: chat,
    headers: { "content-encoding": "gzip, gzip" },
    body: () => gzipSync(gzipSync("{}")),
    answers: [415],
  },
];

/** Random text that compresses badly. */
function noise(bytes: number): string {
  const pieces = Array.from({ length: Math.ceil(bytes / 131_072) }, () =>
    crypto.getRandomValues(new Uint8Array(65_536)),
  );
  return Buffer.concat(pieces).toString("hex");
}
