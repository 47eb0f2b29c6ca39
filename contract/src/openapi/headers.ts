import type { Header, Reference } from "./types.ts";

const text = { type: "string" } as const;
const whole = { type: "integer", minimum: 0 } as const;

/** Headers that Sluice adds to an answer. */
export const answerHeaders = {
  "x-request-id": { description: "The request's id in the ledger and the logs.", schema: text },
  "x-sluice-provider": { description: "The provider that served.", schema: text },
  "x-sluice-deployment": { description: "The deployment that served.", schema: text },
  "x-sluice-upstream-request-id": { description: "What the upstream calls the request.", schema: text },
  "x-sluice-attempts": { description: "How many attempts were made.", schema: whole },
  "x-sluice-overhead-ms": {
    description: "Sluice's own time up to the first byte, in milliseconds.",
    schema: { type: "number", minimum: 0 },
  },
  "x-sluice-cost-usd": {
    description: "What a whole answer was booked at, in USD. Streams carry none.",
    schema: { type: "string", pattern: "^[0-9]+(\\.[0-9]+)?$" },
  },
  "x-ratelimit-limit-requests": { description: "Requests per minute of the tightest limit.", schema: whole },
  "x-ratelimit-remaining-requests": { description: "How many of them are left.", schema: whole },
  "x-ratelimit-reset-requests": { description: "When they are whole again, such as `12s` or `80ms`.", schema: text },
  "x-ratelimit-limit-tokens": { description: "Tokens per minute of the tightest limit.", schema: whole },
  "x-ratelimit-remaining-tokens": { description: "How many of them are left.", schema: whole },
  "x-ratelimit-reset-tokens": { description: "When they are whole again.", schema: text },
  "anthropic-ratelimit-requests-limit": { description: "Requests per minute of the tightest limit.", schema: whole },
  "anthropic-ratelimit-requests-remaining": { description: "How many of them are left.", schema: whole },
  "anthropic-ratelimit-requests-reset": { description: "When they are whole again, by RFC 3339.", schema: text },
  "anthropic-ratelimit-tokens-limit": { description: "Tokens per minute of the tightest limit.", schema: whole },
  "anthropic-ratelimit-tokens-remaining": { description: "How many of them are left.", schema: whole },
  "anthropic-ratelimit-tokens-reset": { description: "When they are whole again, by RFC 3339.", schema: text },
  "x-sluice-warnings": {
    description: "What could not be carried to an upstream of another dialect; several are separated by `; `.",
    schema: text,
  },
  "openai-poll-after-ms": {
    description: "Milliseconds until OpenAI's clients look again; absent once the video has ended.",
    schema: whole,
  },
  "retry-after": { description: "Seconds to wait before trying again.", schema: whole },
  "x-should-retry": {
    description: "`false`: the same request would be refused again.",
    schema: { type: "string", enum: ["false"] },
  },
} as const satisfies Record<string, Header>;

type HeaderName = keyof typeof answerHeaders;

const servedHeaders: readonly HeaderName[] = [
  "x-sluice-provider",
  "x-sluice-deployment",
  "x-sluice-upstream-request-id",
  "x-sluice-attempts",
  "x-sluice-overhead-ms",
  "x-sluice-cost-usd",
  "x-sluice-warnings",
];

const openAiLimits: readonly HeaderName[] = [
  "x-ratelimit-limit-requests",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-reset-requests",
  "x-ratelimit-limit-tokens",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-reset-tokens",
];

const anthropicLimits: readonly HeaderName[] = [
  "anthropic-ratelimit-requests-limit",
  "anthropic-ratelimit-requests-remaining",
  "anthropic-ratelimit-requests-reset",
  "anthropic-ratelimit-tokens-limit",
  "anthropic-ratelimit-tokens-remaining",
  "anthropic-ratelimit-tokens-reset",
];

/** `call`: of a model; `limited`: refused for now; `polled`: a video that may not be there yet; `refused`: for good. */
export type HeaderKind = "plain" | "call" | "limited" | "polled" | "refused";

/** How a caller is told of its limits; `any`: by the headers of the request. */
export type LimitShape = "openai" | "anthropic" | "any";

export function headersOf(kind: HeaderKind, limits: LimitShape = "openai"): Record<string, Reference> {
  const names: HeaderName[] = ["x-request-id"];
  if (kind === "limited") names.push("retry-after");
  if (kind === "refused") names.push("x-should-retry");
  if (kind === "polled") names.push("openai-poll-after-ms");
  if (kind === "call" || kind === "limited") {
    names.push(...servedHeaders);
    if (limits !== "anthropic") names.push(...openAiLimits);
    if (limits !== "openai") names.push(...anthropicLimits);
  }
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
