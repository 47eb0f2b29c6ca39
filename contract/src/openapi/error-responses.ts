import { type ErrorCodeRow, errorCodes } from "../error-codes.ts";
import { type HeaderKind, headersOf } from "./headers.ts";
import type { Reference, Response } from "./types.ts";

/** The format of an error; `any` depends on the headers of the request. */
export type ErrorShape = keyof typeof bodies;

const openai = { $ref: "#/components/schemas/Error" };
const anthropic = { $ref: "#/components/schemas/AnthropicError" };
const gemini = { $ref: "#/components/schemas/GeminiError" };
const interactions = { $ref: "#/components/schemas/InteractionError" };
const aws = { $ref: "#/components/schemas/AwsError" };
const bodies = {
  openai: { name: "Error", schema: openai, limits: "openai" },
  anthropic: { name: "AnthropicError", schema: anthropic, limits: "anthropic" },
  gemini: { name: "GeminiError", schema: gemini, limits: "openai" },
  interactions: { name: "InteractionError", schema: interactions, limits: "openai" },
  aws: { name: "AwsError", schema: aws, limits: "openai" },
  any: { name: "AnyError", schema: { anyOf: [openai, anthropic, gemini, interactions] }, limits: "any" },
} as const;

/** One shared response per status and format, which lists the possible codes. */
export function errorResponses(): Record<string, Response> {
  return Object.assign({}, ...Object.values(bodies).map(responsesOf));
}

function responsesOf({ name, schema, limits }: (typeof bodies)[ErrorShape]): Record<string, Response> {
  const byStatus = new Map<number, string[]>();
  for (const [code, row] of Object.entries<ErrorCodeRow>(errorCodes)) {
    if (row.status === neverSent) continue;
    const lines = byStatus.get(row.status) ?? [];
    lines.push(`- \`${code}\`: ${row.help}`);
    byStatus.set(row.status, lines);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, lines]) => [
      `${name}${status}`,
      {
        description: lines.join("\n"),
        headers: headersOf(errorKind(status), limits),
        content: { "application/json": { schema } },
      },
    ]),
  );
}

/** Which headers an error of this status has. */
function errorKind(status: number): HeaderKind {
  if (status === 401) return "refused";
  if (status === 429 || status === 503) return "limited";
  return status === 402 || status >= 500 ? "call" : "plain";
}

export function errorReferences(...statuses: readonly number[]): Record<string, Reference> {
  return errorsShaped("openai", ...statuses);
}

export function errorsShaped(shape: ErrorShape, ...statuses: readonly number[]): Record<string, Reference> {
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/${bodies[shape].name}${status}` }]),
  );
}

/** The ledger's status for a caller that disconnected. No caller ever receives it. */
const neverSent = 499;
