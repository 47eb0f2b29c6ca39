import type { Header, Reference } from "./types.ts";

const text = { type: "string" } as const;
const whole = { type: "integer", minimum: 0 } as const;

/** Headers that Sluice adds to an answer. */
export const answerHeaders = {
  "x-request-id": { description: "The request's id in the ledger and the logs.", schema: text },
  "x-sluice-provider": { description: "The provider that served.", schema: text },
  "x-sluice-deployment": { description: "The deployment that served.", schema: text },
  "x-sluice-attempts": { description: "How many attempts were made.", schema: whole },
  "x-sluice-overhead-ms": {
    description: "Sluice's own time up to the first byte, in milliseconds.",
    schema: { type: "number", minimum: 0 },
  },
  "x-ratelimit-limit-requests": { description: "Requests per minute of the tightest limit.", schema: whole },
  "x-ratelimit-remaining-requests": { description: "How many of them are left.", schema: whole },
  "x-ratelimit-reset-requests": { description: "When they are whole again, such as `12s` or `80ms`.", schema: text },
  "x-ratelimit-limit-tokens": { description: "Tokens per minute of the tightest limit.", schema: whole },
  "x-ratelimit-remaining-tokens": { description: "How many of them are left.", schema: whole },
  "x-ratelimit-reset-tokens": { description: "When they are whole again.", schema: text },
  "x-sluice-warnings": {
    description: "What could not be carried to an upstream of another dialect; several are separated by `; `.",
    schema: text,
  },
  "retry-after": { description: "Seconds to wait before trying again.", schema: whole },
} as const satisfies Record<string, Header>;

type HeaderName = keyof typeof answerHeaders;

const callHeaders: readonly HeaderName[] = [
  "x-sluice-provider",
  "x-sluice-deployment",
  "x-sluice-attempts",
  "x-sluice-overhead-ms",
  "x-sluice-warnings",
  "x-ratelimit-limit-requests",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-reset-requests",
  "x-ratelimit-limit-tokens",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-reset-tokens",
];

export function headersOf(kind: "plain" | "call" | "limited"): Record<string, Reference> {
  const names: HeaderName[] = ["x-request-id"];
  if (kind === "call") names.push(...callHeaders);
  if (kind === "limited") names.push("retry-after");
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
