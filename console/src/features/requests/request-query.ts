import { outcomes, type QueryInput, requestSorts } from "@sluice/contract";
import { guardrailVerdicts } from "@sluice/contract/words";
import type { Search } from "../../routes/search.ts";

export type RequestQuery = NonNullable<QueryInput<"requests.list">>;

/** URL parameters of the request filters. */
export const requestFilters = [
  "search",
  "model",
  "provider",
  "key",
  "group",
  "person",
  "endpoint",
  "outcome",
  "status",
  "error_code",
  "min_ms",
  "min_cost",
  "max_cost",
  "tag",
  "user_agent",
  "guardrail",
  "guardrail_verdict",
  "would_refuse",
  "text",
] as const;

const plainTexts = [
  ...["search", "model", "provider", "key", "group", "person", "endpoint", "error_code", "tag", "user_agent"],
  "guardrail",
] as const;
const textMax = 256;
/** The gateway refuses shorter texts. */
const bodyTextMin = 2;
/** An HTTP status in a filter. */
export const statusPattern = /^[1-5]\d\d$/;
/** USD in a filter. */
export const costPattern = /^\d{1,9}(?:\.\d{1,9})?$/;

/**
 * The query for the filters in the URL. A search by id ignores the time range, so that it finds requests of any time. Invalid values,
 * which the gateway would refuse, are left out.
 */
export function requestQueryOf(
  search: Search,
  span: { readonly name: string | null; readonly from: number; readonly to: number },
): RequestQuery {
  const query: Record<string, string | number> = {};
  for (const name of plainTexts) {
    const text = (search[name] ?? "").trim().slice(0, textMax);
    if (text !== "") query[name] = text;
  }
  const { outcome, status, min_ms: minMs } = search;
  if (outcome !== undefined && isOutcome(outcome)) query["outcome"] = outcome;
  if (status !== undefined && statusPattern.test(status)) query["status"] = Number(status);
  if (minMs !== undefined && /^\d{1,9}$/.test(minMs)) query["min_ms"] = Number(minMs);
  const verdict = guardrailVerdicts.find((each) => each === search["guardrail_verdict"]);
  if (verdict !== undefined) query["guardrail_verdict"] = verdict;
  if (search["would_refuse"] === "true") query["would_refuse"] = "true";
  for (const name of ["min_cost", "max_cost"] as const) {
    const usd = search[name] ?? "";
    if (costPattern.test(usd)) query[name] = Number(usd);
  }
  const text = (search["text"] ?? "").trim().slice(0, textMax);
  if (text.length >= bodyTextMin) query["text"] = text;
  const { sort } = search;
  if (sort !== undefined && isSort(sort)) query["sort"] = sort;
  if (query["search"] === undefined) {
    query["from"] = span.from;
    // A range that ends now has no end, so that new requests are included while the list is read.
    if (span.name === null) query["to"] = span.to;
  }
  return query as RequestQuery;
}

function isSort(text: string): boolean {
  return text !== "-at" && requestSorts.some((each) => each === text);
}

function isOutcome(text: string): boolean {
  return text === "unsuccessful" || outcomes.some((each) => each === text);
}
