import { accepted, call, chat, either, type HostileShape, MiB, userMessage } from "./hostile-shape.ts";

/** Requests that a kind of provider or a policy changes on the way. */
export const changed: readonly HostileShape[] = [
  call(
    "chat, native",
    "a restricted service tier before 60 MiB",
    () => `"service_tier":"priority","x":"${"a".repeat(60 * MiB)}"`,
    accepted,
  ),
  call("chat, native", "a service tier of 10 MiB", () => `"service_tier":"${"a".repeat(10 * MiB)}"`, accepted),
  call(
    "chat to Messages",
    "a restricted service tier before 30 MiB",
    () => `"service_tier":"priority","messages2":"${"a".repeat(30 * MiB)}"`,
    either,
  ),
  {
    name: "an upstream that needs a field renamed: 60 MiB",
    path: chat,
    body: () =>
      `{"model":"deepseek","max_completion_tokens":5,"messages":[${userMessage}],"x":"${"a".repeat(60 * MiB)}"}`,
    answers: accepted,
  },
  {
    name: "an upstream that needs signed requests: 60 MiB",
    path: chat,
    body: () => `{"model":"bedrock","messages":[{"role":"user","content":"${"a".repeat(60 * MiB)}"}]}`,
    answers: [...either, 502, 503],
  },
];
