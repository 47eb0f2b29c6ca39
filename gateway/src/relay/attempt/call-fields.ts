import { personField } from "#core/index.ts";
import type { Call } from "../call.ts";

/** What every entry of a call says alike. */
export function callFields(call: Call) {
  return {
    requestId: call.requestId,
    workspaceId: call.principal.workspace.id,
    groupId: call.principal.group.id,
    keyId: call.principal.key.id,
    ...personField(call.principal),
    requestedModel: call.facts.model,
    endpoint: call.operation === undefined ? call.protocol.endpoint : "pass-through",
    ...(call.operation === undefined ? {} : { operation: call.operation }),
    callerDialect: call.protocol.wireDialect,
    stream: call.facts.stream,
    inputEstimate: call.facts.inputEstimate,
    userAgent: call.userAgent,
    tags: call.tags,
  } as const;
}
