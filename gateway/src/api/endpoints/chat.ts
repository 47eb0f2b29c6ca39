import { bounds, type Catalog, type Model, type Principal } from "#core/index.ts";
import { mayCall } from "#identity/index.ts";
import { openaiChat } from "#protocols/index.ts";
import { readJsonBody } from "../body.ts";
import type { Endpoint } from "../face.ts";
import { renderFailure } from "../respond.ts";
import { readTags } from "../tags.ts";
import { modelNotFound } from "./models.ts";

/** POST /v1/chat/completions, normal and streaming. */
export const chat: Endpoint = async (face, exchange) => {
  const { request, requestId } = exchange;
  const authenticated = face.authenticator.authenticate(request.headers, exchange.address);
  const principal = authenticated instanceof Promise ? await authenticated : authenticated;
  exchange.patient();
  const bodyStartMs = face.clock.monotonic();
  const body = await readJsonBody(request, exchange.bodies);
  const bodyWaitMs = face.clock.monotonic() - bodyStartMs;
  const facts = openaiChat.readRequest(body);
  let streamEnd = (): void => {};
  const call = {
    requestId,
    principal,
    endpoint: "chat",
    dialect: openaiChat,
    facts,
    body,
    headers: request.headers,
    models: callableModels(face.catalog(), principal, facts.model),
    signal: request.signal,
    startedMs: exchange.startedMs,
    bodyWaitMs,
    userAgent: (request.headers.get("user-agent") ?? "").slice(0, bounds.userAgentBytesMax),
    tags: readTags(request.headers, principal),
    streamEnd: () => streamEnd(),
  } as const;
  const result =
    call.models.length === 0 ? face.relay.refuse(call, modelNotFound(facts.model)) : await face.relay.run(call);
  if ("failure" in result) return renderFailure(result.failure, requestId, result.headers, openaiChat);
  if (result.body instanceof ReadableStream) streamEnd = exchange.streams();
  return new Response(result.body, { status: result.status, headers: result.headers });
};

/** The model asked for and, behind it, its fallbacks; only what the caller may use. Empty: not found. */
function callableModels(catalog: Catalog, principal: Principal, name: string): readonly Model[] {
  const model = catalog.models.get(name);
  if (model === undefined || !mayCall(principal, name)) return [];
  if (model.fallbacks.length === 0) return [model];
  const fallbacks = model.fallbacks.flatMap((fallback) => {
    const found = catalog.models.get(fallback);
    return found !== undefined && mayCall(principal, fallback) ? [found] : [];
  });
  return [model, ...fallbacks];
}
