import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { chat, chatOf, type HostileShape, MiB, many, passed, refused, said } from "./hostile-shape.ts";

const packings: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  gzip: (bytes) => gzipSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: (bytes) => zstdCompressSync(bytes),
};

export const packed: readonly HostileShape[] = [
  ...Object.entries(packings).flatMap(([encoding, pack]): HostileShape[] => [
    {
      name: `${encoding}: a bomb of 64 MiB`,
      path: chat,
      headers: { "content-encoding": encoding },
      body: () => pack(Buffer.alloc(64 * MiB, "x")),
      answers: refused,
    },
    {
      name: `${encoding}: a bomb that holds a conversation of a million messages`,
      path: chat,
      headers: { "content-encoding": encoding },
      body: () => pack(Buffer.from(chatOf("claude", () => many(1_000_000, said))())),
      answers: refused,
    },
    {
      name: `${encoding}: packed badly enough to pass, thirty megabytes of it`,
      path: chat,
      headers: { "content-encoding": encoding },
      body: () =>
        pack(Buffer.from(`{"model":"openai","messages":[${said}],"x":"${noise(8 * MiB)}${"a".repeat(22 * MiB)}"}`)),
      answers: passed,
    },
    {
      name: `${encoding}: an asset of two million members`,
      path: "/v1/assets",
      headers: { "content-encoding": encoding },
      body: () => pack(Buffer.from(`{${many(2_000_000, (at) => `"k${at}":1`)}}`)),
      answers: refused,
    },
    {
      name: `${encoding}: what is not packed`,
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

/** Letters that do not pack well. */
function noise(bytes: number): string {
  const pieces = Array.from({ length: Math.ceil(bytes / 131_072) }, () =>
    crypto.getRandomValues(new Uint8Array(65_536)),
  );
  return Buffer.concat(pieces).toString("hex");
}
