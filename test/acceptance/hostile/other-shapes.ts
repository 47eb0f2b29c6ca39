import { gzipSync } from "node:zlib";
import {
  accepted,
  anthropicVersion,
  chat,
  chatOf,
  type HostileShape,
  MiB,
  many,
  refused,
  userMessage,
} from "./hostile-shape.ts";

export const otherShapes: readonly HostileShape[] = [
  {
    name: "batches: 40,000 requests in the creation",
    path: "/v1beta/models/gemini:batchGenerateContent",
    body() {
      const request = `{"request":{"contents":[{"role":"user","parts":[{"text":"${"a".repeat(400)}"}]}]}}`;
      const input = `{"requests":{"requests":[${many(40_000, request)}]}}`;
      return `{"batch":{"inputConfig":${input},"displayName":"${"a".repeat(300)}"}}`;
    },
    answers: refused,
  },
  ...["/v1/assets", "/v1/asset-groups", "/v1/video/tasks"].flatMap((path): HostileShape[] => [
    {
      name: `${path}: a million fields`,
      path,
      body: () => `{${many(1_000_000, (at) => `"k${at}":1`)}}`,
      answers: refused,
    },
    { name: `${path}: 10 MiB of brackets`, path, body: () => "[".repeat(10 * MiB), answers: refused },
    { name: `${path}: 9,000 values`, path, body: () => `{"x":[${"{},".repeat(9_000)}1]}`, answers: [400, 404] },
  ]),
  {
    name: "callback: a decompression bomb with a guessed token",
    path: "/v1/video/callbacks/vt_01KX4000000000000000000000/guessed",
    headers: { "content-encoding": "gzip" },
    body: () => gzipSync(Buffer.alloc(64 * MiB, "x")),
    answers: [404],
  },
  {
    name: "count_tokens: 100,000 messages",
    path: "/v1/messages/count_tokens",
    headers: anthropicVersion,
    body: () => `{"model":"claude","messages":[${many(100_000, userMessage)}]}`,
    answers: accepted,
  },
  {
    name: "too many tags",
    path: chat,
    headers: { "x-sluice-tags": "a=b,".repeat(2_000) },
    body: chatOf("openai", () => userMessage),
    answers: [400],
  },
  {
    name: "a query with many parameters",
    path: `${chat}?${"a=b&".repeat(2_000)}`,
    body: chatOf("openai", () => userMessage),
    answers: [200, 414, 431],
  },
  {
    name: "a sign-in of 1 MiB",
    path: "/api/auth/sign-in/email",
    body: () => `{"email":"${"a".repeat(MiB)}"}`,
    answers: [400, 403, 404, 413],
  },
  {
    name: "a deeply nested setup request",
    path: "/api/setup",
    body: () => `{"a":${"[".repeat(60_000)}`,
    answers: [400, 403, 404, 409, 410, 413],
  },
  {
    name: "an invalid browser report",
    path: "/api/csp-reports",
    body: () => "[".repeat(60_000),
    answers: [400, 404, 413, 415],
  },
];
