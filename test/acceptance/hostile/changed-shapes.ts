import { call, chat, either, type HostileShape, MiB, passed, said } from "./hostile-shape.ts";

/** What is changed on its way by a kind of provider, or governed. */
export const changed: readonly HostileShape[] = [
  call(
    "chat, native",
    "a tier that is governed, before sixty megabytes",
    () => `"service_tier":"priority","x":"${"a".repeat(60 * MiB)}"`,
    passed,
  ),
  call("chat, native", "a tier of ten megabytes", () => `"service_tier":"${"a".repeat(10 * MiB)}"`, passed),
  call(
    "chat to Messages",
    "a tier that is governed, before thirty megabytes",
    () => `"service_tier":"priority","messages2":"${"a".repeat(30 * MiB)}"`,
    either,
  ),
  {
    name: "an upstream that wants a member by its older name: sixty megabytes",
    path: chat,
    body: () => `{"model":"deepseek","max_completion_tokens":5,"messages":[${said}],"x":"${"a".repeat(60 * MiB)}"}`,
    answers: passed,
  },
  {
    name: "an upstream that wants signed requests: sixty megabytes",
    path: chat,
    body: () => `{"model":"bedrock","messages":[{"role":"user","content":"${"a".repeat(60 * MiB)}"}]}`,
    answers: [...either, 502, 503],
  },
];
