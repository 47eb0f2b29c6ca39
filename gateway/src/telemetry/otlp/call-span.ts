import { bounds, nanoToUsd } from "#core/index.ts";
import type { RequestEnd } from "#ports/index.ts";
import { maskText } from "../redacted.ts";
import { routeTemplates, taskRoutes } from "./route-templates.ts";
import type { Attributes } from "./sdk-types.ts";
import type { SharedAttributesCache } from "./shared-attributes.ts";
import { noLinks, type SpanFields, spanKinds } from "./span.ts";
import { taskSpanId, taskTrace } from "./task-trace.ts";
import type { TraceContext } from "./trace-context.ts";
import { spanIdFrom } from "./trace-ids.ts";
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

/** The SERVER span of a call. What it used stands in the spans of its attempts, so that no sum counts it twice. */
export function callSpan(
  call: EndedCall,
  facts: CallFacts | null,
  trace: TraceContext,
  cache: SharedAttributesCache,
): SpanFields {
  const { end } = call;
  const { requestId, method, status } = end;
  const route = routeTemplates.get(end.route) ?? end.route;
  const isBroken = facts?.isBroken === true;
  const errorType = end.error ?? (status >= 400 ? String(status) : isBroken ? (facts?.errorType ?? null) : null);
  const startMs = call.endMs - end.totalMs;
  const { principal = null, key, model } = end;
  const shared = cache.get(
    `${method}\n${end.route}\n${status}\n${errorType}\n${key}\n${model}\n${facts?.userAgent}\n${facts?.stream}\n${facts?.keyId}`,
    principal,
    null,
    () => sharedAttributes(end, route, errorType, facts),
  );
  return {
    name: `${method} ${route}`,
    kind: spanKinds.server,
    trace,
    spanId: spanIdFrom(requestId),
    parentSpanId: trace.parentSpanId,
    parentIsRemote: true,
    startMs: facts === null ? startMs : Math.min(startMs, facts.startMs),
    endMs: facts === null ? call.endMs : Math.max(call.endMs, facts.endMs),
    shared,
    own: ownAttributes(end, facts),
    // OpenTelemetry's HTTP conventions: an answer below 500 is no error of the server, whatever the caller did.
    failed: status >= 500 || (status < 400 && isBroken) ? (errorType ?? String(status)) : null,
    links: beganTask(end) ? [{ trace: taskTrace(requestId), spanId: taskSpanId(requestId) }] : noLinks,
  };
}

function ownAttributes({ requestId, address }: RequestEnd, facts: CallFacts | null): Attributes {
  const out: Attributes = { "sluice.request.id": requestId };
  if (address !== "") out["client.address"] = address;
  if (facts === null) return out;
  out["sluice.attempts"] = facts.attempts;
  if (facts.attempts === 0) return out;
  out["sluice.request.cost.nano_usd"] = facts.costNanoUsd;
  out["sluice.request.cost.usd"] = nanoToUsd(facts.costNanoUsd);
  return out;
}

function sharedAttributes(
  end: RequestEnd,
  route: string,
  errorType: string | null,
  facts: CallFacts | null,
): Attributes {
  const { model } = end;
  return {
    "http.request.method": end.method,
    "http.route": route,
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
