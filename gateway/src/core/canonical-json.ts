import { Failure } from "./failure.ts";

/**
 * A JSON value as text that is the same for equal values: keys sorted by their UTF-16 units at every level, no white space. Throws
 * `invalid_request` for what is nested deeper than `depthMax`.
 */
export function canonicalJson(value: unknown, depthMax: number): string {
  if (depthMax < 0) throw new Failure("invalid_request", "The JSON is nested too deeply.");
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each, depthMax - 1)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each, depthMax - 1)}`).join(",")}}`;
}
