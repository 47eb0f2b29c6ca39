import type { Header, Reference } from "./types.ts";

const text = { type: "string" } as const;
const whole = { type: "integer", minimum: 0 } as const;

/** Headers that Sluice adds to responses. */
export const answerHeaders = {
  "x-request-id": { description: "Id of the request in the ledger and in logs.", schema: text },
  "x-sluice-provider": { description: "The provider that answered.", schema: text },
  "x-sluice-deployment": { description: "The deployment that answered.", schema: text },
  "x-sluice-upstream-request-id": { description: "Id of the request at the upstream.", schema: text },
  "x-sluice-attempts": { description: "Number of attempts.", schema: whole },
  "x-sluice-overhead-ms": {
    description: "Sluice's own time up to the first byte, in milliseconds.",
    schema: { type: "number", minimum: 0 },
  },
  "x-sluice-cost-usd": {
    description: "Cost of the call in USD. Absent on streams.",
    schema: { type: "string", pattern: "^[0-9]+(\\.[0-9]+)?$" },
  },
  "x-ratelimit-limit-requests": { description: "Requests per minute of the tightest limit.", schema: whole },
  "x-ratelimit-remaining-requests": { description: "Number left now.", schema: whole },
  "x-ratelimit-reset-requests": {
    description: "Time until the limit is fully restored, such as `12s` or `80ms`.",
    schema: text,
  },
  "x-ratelimit-limit-tokens": { description: "Tokens per minute of the tightest limit.", schema: whole },
  "x-ratelimit-remaining-tokens": { description: "Number left now.", schema: whole },
  "x-ratelimit-reset-tokens": { description: "Time until the limit is fully restored.", schema: text },
  "anthropic-ratelimit-requests-limit": { description: "Requests per minute of the tightest limit.", schema: whole },
  "anthropic-ratelimit-requests-remaining": { description: "Number left now.", schema: whole },
  "anthropic-ratelimit-requests-reset": { description: "When the limit is fully restored (RFC 3339).", schema: text },
  "anthropic-ratelimit-tokens-limit": { description: "Tokens per minute of the tightest limit.", schema: whole },
  "anthropic-ratelimit-tokens-remaining": { description: "Number left now.", schema: whole },
  "anthropic-ratelimit-tokens-reset": { description: "When the limit is fully restored (RFC 3339).", schema: text },
  "x-sluice-warnings": {
    description: "Fields that could not be translated for the upstream, separated by `; `.",
    schema: text,
  },
  "x-sluice-guardrails": {
    description: "Guardrails that checked the call, and what they did: `keys=passed, mail=masked(2)`.",
    schema: text,
  },
  "openai-poll-after-ms": {
    description: "Milliseconds until OpenAI's clients should poll again. Absent once the video has ended.",
    schema: whole,
  },
  "retry-after": { description: "Seconds to wait before retrying.", schema: whole },
  "x-should-retry": {
    description: "`false`: do not retry, the same request would fail again.",
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
  "x-sluice-guardrails",
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

/** `call`: a model call; `limited`: may be retried later; `polled`: a video in progress; `refused`: must not be retried. */
export type HeaderKind = "plain" | "call" | "limited" | "polled" | "refused";

/** The format of the limit headers; `any` depends on the headers of the request. */
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
