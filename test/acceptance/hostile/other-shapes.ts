import { gzipSync } from "node:zlib";
import {
  anthropicVersion,
  chat,
  chatOf,
  type HostileShape,
  MiB,
  many,
  passed,
  refused,
  said,
} from "./hostile-shape.ts";

export const others: readonly HostileShape[] = [
  ...["/v1/assets", "/v1/asset-groups", "/v1/video/tasks"].flatMap((path): HostileShape[] => [
    {
      name: `${path}: a million members`,
      path,
      body: () => `{${many(1_000_000, (at) => `"k${at}":1`)}}`,
      answers: refused,
    },
    { name: `${path}: ten megabytes of brackets`, path, body: () => "[".repeat(10 * MiB), answers: refused },
    { name: `${path}: nine thousand values`, path, body: () => `{"x":[${"{},".repeat(9_000)}1]}`, answers: [400, 404] },
  ]),
  {
    name: "callback: a bomb with a guessed token",
    path: "/v1/video/callbacks/vt_01KX4000000000000000000000/guessed",
    headers: { "content-encoding": "gzip" },
    body: () => gzipSync(Buffer.alloc(64 * MiB, "x")),
    answers: [404],
  },
  {
    name: "count_tokens: a hundred thousand messages",
    path: "/v1/messages/count_tokens",
    headers: anthropicVersion,
    body: () => `{"model":"claude","messages":[${many(100_000, said)}]}`,
    answers: passed,
  },
  {
    name: "tags without an end",
    path: chat,
    headers: { "x-sluice-tags": "a=b,".repeat(2_000) },
    body: chatOf("openai", () => said),
    answers: [400],
  },
  {
    name: "a query of many pairs",
    path: `${chat}?${"a=b&".repeat(2_000)}`,
    body: chatOf("openai", () => said),
    answers: [200, 414, 431],
  },
  {
    name: "a sign-in of a megabyte",
    path: "/api/auth/sign-in/email",
    body: () => `{"email":"${"a".repeat(MiB)}"}`,
    answers: [400, 403, 404, 413],
  },
  {
    name: "a set-up that is deep",
    path: "/api/setup",
    body: () => `{"a":${"[".repeat(60_000)}`,
    answers: [400, 403, 404, 409, 410, 413],
  },
  {
    name: "a report of a browser that is none",
    path: "/api/csp-reports",
    body: () => "[".repeat(60_000),
    answers: [400, 404, 413, 415],
  },
];
