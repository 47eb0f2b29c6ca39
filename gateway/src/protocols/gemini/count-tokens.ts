import { requestFields } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import type { PathFacts, ReplyFacts, RequestFacts } from "../dialect.ts";
import { errorText } from "../errors/upstream-errors.ts";
import type { Edit } from "../json/bytes.ts";
import type { Span } from "../json/cursor.ts";
import { JsonInvalid, readSpan, scanObject } from "../json/scan.ts";
import { countOf, wrong } from "../json/value.ts";
import { GovernedNames } from "../request/governed-names.ts";
import { MemberChecks } from "../request/member-checks.ts";
import { bodyNames, scanRequest } from "../request/members.ts";
import { eitherOf, readGeminiRequest } from "./request.ts";

const checks = new MemberChecks(requestFields["gemini-count-tokens"]);

const wrapping = bodyNames(["model", "contents", "generateContentRequest", "generate_content_request"]);
const wrapped = new GovernedNames(["model"]);

/**
 * Reads a countTokens request: `contents` alone, or a whole `generateContentRequest`, which names its model once more.
 * Source: Gemini API reference, models.countTokens.
 */
export function readGeminiCount(body: Uint8Array, path: PathFacts | null): RequestFacts {
  const members = scanRequest(body, wrapping);
  const inner = eitherOf(members, "generateContentRequest", "generate_content_request");
  if (inner === undefined) return { ...readGeminiRequest(body, path), outputTokensMax: 0 };
  if (members.has("contents"))
    throw wrong("contents", "stands beside generateContentRequest: only one of them is counted");
  // Under its other name it is no member of the table.
  checks.check(body, new Map([["generateContentRequest", inner]]));
  const request = body.subarray(inner.start, inner.end);
  const named = scanRequest(request, wrapped).get("model");
  const { choosing: _, ...facts } = readGeminiRequest(request, path);
  return {
    ...facts,
    outputTokensMax: 0,
    modelSpan: named === undefined ? null : { start: inner.start + named.start, end: inner.start + named.end },
    choosing: members.has("model") ? ["model"] : undefined,
  };
}

/** The request that is to be counted, out of what may be wrapped around it. */
export function innerRequest(body: Uint8Array): Uint8Array {
  try {
    const members = scanObject(body, wrapping);
    const inner = members.get("generateContentRequest") ?? members.get("generate_content_request");
    return inner === undefined ? body : body.subarray(inner.start, inner.end);
  } catch (thrown) {
    if (thrown instanceof JsonInvalid) return body;
    throw thrown;
  }
}

/** The model that the inner request names has to be the path's. */
export function geminiCountEdits(_body: Uint8Array, facts: RequestFacts, upstreamModel: string): readonly Edit[] {
  if (facts.modelSpan === null) return [];
  return [{ ...facts.modelSpan, text: JSON.stringify(`models/${upstreamModel}`) }];
}

/** Reads the answer of a count: it used nothing. Zeros may be left out of it. */
export function readGeminiCountReply(body: Uint8Array): ReplyFacts {
  const members = scanReply(body);
  const total = members.get("totalTokens");
  const error = members.get("error");
  if (total !== undefined && countOf(readSpan(body, total)) === null) throw notACount();
  return {
    usage: null,
    errorMessage: total === undefined && error !== undefined ? errorText(readSpan(body, error)) : null,
    outputEstimate: 0,
    id: null,
  };
}

const wantedReply: ReadonlySet<string> = new Set(["totalTokens", "error"]);

function scanReply(body: Uint8Array): ReadonlyMap<string, Span> {
  try {
    return scanObject(body, wantedReply);
  } catch (thrown) {
    if (thrown instanceof JsonInvalid) throw notACount(thrown);
    throw thrown;
  }
}

function notACount(cause?: unknown): Failure {
  return new Failure("upstream_error", "The upstream's answer is not a count of tokens.", {
    retry: "other",
    unhealthy: true,
    cause,
  });
}
