import { bounds, nanoToUsd } from "#core/index.ts";
import type { RequestEnd } from "#ports/index.ts";
import { shownSentence } from "../access-log.ts";
import { maskText } from "../redacted.ts";
import { type AttributeList, type Attributes, attributeName } from "./attribute-list.ts";
import { routeTemplates, taskRoutes } from "./route-templates.ts";
import type { SharedFieldsCache } from "./shared-fields-cache.ts";
import { noLinks, SharedFields, type SpanFields, spanKinds } from "./span.ts";
import { type TraceContext, taskId, taskTrace } from "./trace-context.ts";
import type { CallFacts } from "./traced-call.ts";

/** A request that is over, and when, in Unix milliseconds. */
export interface EndedCall {
  readonly end: RequestEnd;
  readonly endMs: number;
}

/** Whether the request began a video task. A repeated one that was answered with the first one's task looks the same. */
export function beganTask({ route, method, status }: RequestEnd): boolean {
  return method === "POST" && status < 300 && taskRoutes.has(route);
}

/** What the attributes that many spans have alike follow from. */
export interface CallSource {
  readonly end: RequestEnd;
  readonly facts: CallFacts | null;
}

/** The SERVER span of a call. What it used stands in the spans of its attempts, so that no sum counts it twice. */
export function callSpan(
  call: EndedCall,
  facts: CallFacts | null,
  trace: TraceContext,
  { cache, own }: { readonly cache: SharedFieldsCache<CallSource>; readonly own: AttributeList },
): SpanFields {
  const { end } = call;
  const { requestId, status } = end;
  const errorType = errorOf(end, facts);
  const startMs = call.endMs - end.totalMs;
  return {
    trace,
    of: requestId,
    below: null,
    parentSpanId: trace.parentSpanId,
    startMs: facts === null ? startMs : Math.min(startMs, facts.startMs),
    endMs: facts === null ? call.endMs : Math.max(call.endMs, facts.endMs),
    shared: cache.get(end.principal?.key.id ?? "", { end, facts }),
    own: ownAttributes(own.clear(), end, facts),
    // OpenTelemetry's HTTP conventions: an answer below 500 is no error of the server, whatever the caller did.
    failed: status >= 500 || (status < 400 && facts?.isBroken === true) ? statusMessage(end, errorType) : null,
    links: beganTask(end) ? [{ trace: taskTrace(requestId), of: taskId(requestId) }] : noLinks,
  };
}

function errorOf({ error, status }: RequestEnd, facts: CallFacts | null): string | null {
  if (error !== null) return error;
  if (status >= 400) return String(status);
  return facts?.isBroken === true ? facts.errorType : null;
}

/** The sentence of the failure, as in the log; `error.type` has its code. */
function statusMessage({ message, status }: RequestEnd, errorType: string | null): string {
  return message == null ? (errorType ?? String(status)) : shownSentence(message);
}

function ownAttributes(own: AttributeList, { requestId, address }: RequestEnd, facts: CallFacts | null): AttributeList {
  own.add(names.requestId, requestId);
  if (address !== "") own.add(names.address, address);
  if (facts === null) return own;
  own.add(names.attempts, facts.attempts);
  if (facts.attempts === 0) return own;
  own.add(names.costNanoUsd, facts.costNanoUsd);
  own.add(names.costUsd, nanoToUsd(facts.costNanoUsd));
  return own;
}

const names = {
  requestId: attributeName("sluice.request.id"),
  address: attributeName("client.address"),
  attempts: attributeName("sluice.attempts"),
  costNanoUsd: attributeName("sluice.request.cost.nano_usd"),
  costUsd: attributeName("sluice.request.cost.usd"),
} as const;

/** What `sharedOfCall` reads. */
export function isSameCall(one: CallSource, other: CallSource): boolean {
  const { end, facts } = one;
  const { end: its, facts: theirs } = other;
  return (
    end.principal === its.principal &&
    end.method === its.method &&
    end.route === its.route &&
    end.status === its.status &&
    end.error === its.error &&
    end.key === its.key &&
    end.model === its.model &&
    facts?.userAgent === theirs?.userAgent &&
    facts?.stream === theirs?.stream &&
    facts?.keyId === theirs?.keyId &&
    facts?.workspaceId === theirs?.workspaceId &&
    facts?.isBroken === theirs?.isBroken &&
    facts?.errorType === theirs?.errorType
  );
}

export function sharedOfCall(source: CallSource): SharedFields {
  const { method, route } = source.end;
  const name = `${method} ${routeTemplates.get(route) ?? route}`;
  return new SharedFields(attributesOf(source), name, spanKinds.server);
}

function attributesOf({ end, facts }: CallSource): Attributes {
  const { model, route } = end;
  const errorType = errorOf(end, facts);
  return {
    "http.request.method": end.method,
    "http.route": routeTemplates.get(route) ?? route,
    "http.response.status_code": end.status,
    ...callerAttributes(end, facts),
    ...(model === null ? {} : { "sluice.model.requested": maskText(model.slice(0, bounds.traceTextMax)) }),
    ...(facts?.stream === true ? { "sluice.stream": true } : {}),
    ...(facts === null || facts.userAgent === "" ? {} : { "user_agent.original": maskText(facts.userAgent) }),
    ...(errorType === null ? {} : { "error.type": errorType }),
  };
}

function callerAttributes({ key, principal }: RequestEnd, facts: CallFacts | null): Attributes {
  if (principal != null) {
    return {
      "sluice.workspace.id": principal.workspace.id,
      "sluice.workspace": principal.workspace.slug,
      "sluice.group": principal.group.name,
      "sluice.key.id": principal.key.id,
      "sluice.key.name": principal.key.name,
      "sluice.key.prefix": principal.key.prefix,
    };
  }
  const out: Attributes = key === null ? {} : { "sluice.key.prefix": key };
  if (facts === null) return out;
  return { ...out, "sluice.workspace.id": facts.workspaceId, "sluice.key.id": facts.keyId };
}
