import type { Parameter } from "./types.ts";

/** Which part of a list is asked for; the same for every list that comes in pages. */
export const pageParameters: readonly Parameter[] = [
  {
    name: "limit",
    in: "query",
    description: "How many at most; 20 unless told.",
    schema: { type: "integer", minimum: 1, maximum: 1_000 },
  },
  { name: "after", in: "query", description: "`next` of the page before.", schema: { type: "string" } },
];

export function idParameter(name: string, description: string): Parameter {
  return { name, in: "path", required: true, description, schema: { type: "string" } };
}
