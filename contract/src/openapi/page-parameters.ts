import type { Parameter } from "./types.ts";

/** Paging parameters that every list shares. */
export const pageParameters: readonly Parameter[] = [
  {
    name: "limit",
    in: "query",
    description: "Maximum number of items. Default: 20.",
    schema: { type: "integer", minimum: 1, maximum: 1_000 },
  },
  { name: "after", in: "query", description: "`next` of the previous page.", schema: { type: "string" } },
];

export function idParameter(name: string, description: string): Parameter {
  return { name, in: "path", required: true, description, schema: { type: "string" } };
}
