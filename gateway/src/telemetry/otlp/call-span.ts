import { bounds, nanoToUsd } from "#core/index.ts";
import type { RequestEnd } from "#ports/index.ts";
import { maskText } from "../redacted.ts";
import { routeTemplates, taskRoutes } from "./route-templates.ts";
import type { Attributes, Origin, SdkSpan } from "./sdk-types.ts";
import { linkTo, spanKinds, spanOf } from "./span.ts";
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
export function callSpan(origin: Origin, call: EndedCall, facts: CallFacts | null, trace: TraceContext): SdkSpan {
  const { end } = call;
  const { requestId, method, status, totalMs } = end;
  const route = routeTemplates.get(end.route) ?? end.route;
  const errorType = end.error ?? (status >= 400 ? String(status) : facts?.broken === true ? facts.errorType : null);
  const startMs = call.endMs - totalMs;
  return spanOf(origin, {
    name: `${method} ${route}`,
    kind: spanKinds.server,
    trace,
    spanId: spanIdFrom(requestId),
    parentSpanId: trace.parentSpanId,
    parentIsRemote: true,
    startMs: facts === null ? startMs : Math.min(startMs, facts.startMs),
    endMs: facts === null ? call.endMs : Math.max(call.endMs, facts.endMs),
    attributes: {
      "http.request.method": method,
      "http.route": route,
      "http.response.status_code": status,
      "sluice.request.id": requestId,
      ...(end.address === "" ? {} : { "client.address": end.address }),
      ...callerAttributes(end, facts),
      ...modelAttributes(end, facts),
      ...(errorType === null ? {} : { "error.type": errorType }),
    },
    // OpenTelemetry's HTTP conventions: an answer below 500 is no error of the server, whatever the caller did.
    failed: status >= 500 || (status < 400 && facts?.broken === true) ? (errorType ?? String(status)) : null,
    links: beganTask(end) ? [linkTo(taskTrace(requestId), taskSpanId(requestId))] : noLinks,
  });
}

const noLinks: SdkSpan["links"] = [];

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
  if (facts !== null) {
    out["sluice.workspace.id"] = facts.workspaceId;
    out["sluice.key.id"] = facts.keyId;
  }
  return out;
}

function modelAttributes({ model }: RequestEnd, facts: CallFacts | null): Attributes {
  const out: Attributes =
    model === null ? {} : { "sluice.model.requested": maskText(model.slice(0, bounds.traceTextMax)) };
  if (facts === null) return out;
  out["sluice.attempts"] = facts.attempts;
  if (facts.attempts > 0) {
    out["sluice.request.cost.nano_usd"] = facts.costNanoUsd;
    out["sluice.request.cost.usd"] = nanoToUsd(facts.costNanoUsd);
  }
  if (facts.stream) out["sluice.stream"] = true;
  if (facts.userAgent !== "") out["user_agent.original"] = maskText(facts.userAgent);
  return out;
}
