import { type ErrorCodeRow, errorCodes } from "../error-codes.ts";
import { headersOf } from "./headers.ts";
import type { Reference, Response } from "./types.ts";

/** One shared response per status, each naming the codes it can hold. */
export function errorResponses(): Record<string, Response> {
  const byStatus = new Map<number, string[]>();
  for (const [code, row] of Object.entries<ErrorCodeRow>(errorCodes)) {
    if (row.status === neverSent) continue;
    const lines = byStatus.get(row.status) ?? [];
    lines.push(`- \`${code}\`: ${row.help}`);
    byStatus.set(row.status, lines);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, lines]) => [
      `Error${status}`,
      {
        description: lines.join("\n"),
        headers: headersOf(status === 429 || status === 503 ? "limited" : "plain"),
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    ]),
  );
}

export function errorReferences(...statuses: readonly number[]): Record<string, Reference> {
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/Error${status}` }]),
  );
}

/** 499 is what the ledger calls a caller that went away; nobody is left to receive it. */
const neverSent = 499;
