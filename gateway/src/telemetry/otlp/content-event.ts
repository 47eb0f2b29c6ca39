import type { LedgerEntry } from "#core/index.ts";
import { bounds } from "#core/index.ts";
import { askedModel } from "./attempt-span.ts";
import { errorTypeOf, operationOf, tokenCounts } from "./gen-ai-names.ts";
import type { LogFields } from "./log-fields.ts";
import type { ToldAttempt } from "./span-maker.ts";
import type { Traces } from "./traces.ts";

const severity = { level: "info", severity: 9 } as const;

/** What was said in a call, as the event that the GenAI conventions have for it; it belongs to the span of the attempt that answered. */
export function contentEvent(
  { entry, content }: Omit<ToldAttempt, "message">,
  traces: Traces | null,
  nowMs: number,
): LogFields {
  const { system, input, output, truncated } = content;
  const trace = traces?.of(entry.requestId) ?? null;
  return {
    ...{ atMs: nowMs, observedMs: nowMs, ...severity, body: "" },
    eventName: "gen_ai.client.inference.operation.details",
    trace,
    sampled: trace !== null && traces?.isSampled(trace) === true,
    of: entry.attemptId,
    ...{ shared: null, own: null, dropped: 0 },
    attributes: {
      ...facts(entry),
      ...(system === null ? {} : { "gen_ai.system_instructions": structured(system) }),
      ...(input === null ? {} : { "gen_ai.input.messages": structured(input) }),
      ...(output === null ? {} : { "gen_ai.output.messages": structured(output) }),
      ...(truncated ? { "sluice.content.truncated": true } : {}),
    },
  };
}

function facts(entry: LedgerEntry): Record<string, unknown> {
  const { input, output } = tokenCounts(entry.usage);
  const errorType = errorTypeOf(entry);
  return {
    "gen_ai.operation.name": operationOf(entry.endpoint),
    "gen_ai.request.model": askedModel(entry),
    ...(entry.upstreamId === null ? {} : { "gen_ai.response.id": entry.upstreamId }),
    ...(entry.usageSource === "none"
      ? {}
      : { "gen_ai.usage.input_tokens": input, "gen_ai.usage.output_tokens": output }),
    ...(errorType === null ? {} : { "error.type": errorType }),
    "sluice.request.id": entry.requestId,
    "sluice.attempt.id": entry.attemptId,
    "sluice.provider": entry.provider,
    "sluice.model": entry.model,
  };
}

/** Lists and objects, as the conventions ask of events; what callers nest deeper than anybody reads stays a text. */
function structured(json: string): unknown {
  return isShallow(json) ? JSON.parse(json) : json;
}

function isShallow(json: string): boolean {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < json.length; at++) {
    const letter = json.charCodeAt(at);
    if (inText) {
      if (letter === backslash) at++;
      else if (letter === quote) inText = false;
    } else if (letter === quote) inText = true;
    else if (letter === openList || letter === openObject) {
      if (++depth > bounds.contentDepthMax) return false;
    } else if (letter === closeList || letter === closeObject) depth--;
  }
  return true;
}

const [quote, backslash, openList, closeList, openObject, closeObject] = [34, 92, 91, 93, 123, 125] as const;
