import { asFailure, Failure, type Provider, type UpstreamObject } from "#core/index.ts";
import { freeRequest } from "#limits/index.ts";
import { type JsonObject, parseObject } from "#protocols/index.ts";
import type { OutboundDraft } from "#providers/index.ts";
import { continueTrace, forwardedHeaders } from "../attempt/outbound.ts";
import type { CallResult, RelayDependencies } from "../call.ts";
import { passThroughRoute } from "../pass-through/pass-through-call.ts";
import { objectCollections } from "./object-endpoints.ts";
import { accountsFor, type ObjectRequest } from "./object-route.ts";

/**
 * A page of the workspace's objects of one collection, the last recorded first, each as its vendor shows it now. It is free. An object
 * that its vendor no longer has is left out. Throws Failure.
 */
export async function listObjects(
  dependencies: RelayDependencies,
  request: ObjectRequest,
  requestId: string,
): Promise<CallResult> {
  const { principal, endpoint, vendor, signal } = request;
  const { kind } = objectCollections[endpoint.collection];
  const { limit, after, isOldestFirst } = readPage(request);
  const accounts = accountsFor(dependencies, request);
  const permit = await dependencies.admission.admit(principal, freeRequest, requestId);
  try {
    const workspaceId = principal.workspace.id;
    const { upstreamObjects } = dependencies;
    const place =
      after === null ? null : (await upstreamObjects.find(workspaceId, [after], { waits: true, signal })).get(after);
    if (place === undefined) {
      throw new Failure("invalid_request", "The position is not one of this list.", { param: positionOf(vendor) });
    }
    const query = { kind, providers: [...accounts.keys()], after: place, limit: limit + 1, isOldestFirst };
    const found = await upstreamObjects.list(workspaceId, query);
    const page = found.slice(0, limit);
    const shown: JsonObject[] = [];
    for (let at = 0; at < page.length; at += readTogether) {
      const read = page
        .slice(at, at + readTogether)
        .map((object) => show(dependencies, request, requestId, accounts, object));
      for (const object of await Promise.all(read)) if (object !== null) shown.push(object);
    }
    const last = found.length > limit ? (page.at(-1)?.id ?? null) : null;
    const body = vendor === "anthropic" ? anthropicPage(shown, last) : openAiPage(shown, page, last);
    const headers = { "content-type": "application/json", "x-request-id": requestId };
    return { status: 200, headers, body: new TextEncoder().encode(JSON.stringify(body)) };
  } catch (thrown) {
    return {
      failure: signal.aborted ? new Failure("client_closed", "The caller went away.") : asFailure(thrown),
      headers: {},
    };
  } finally {
    permit.settle(0);
  }
}

const positionOf = (vendor: string): string => (vendor === "anthropic" ? "page" : "after");

function readPage({ query, vendor }: ObjectRequest) {
  const read = new URLSearchParams(query);
  const limit = Number(read.get("limit") ?? 20);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > limitMax) {
    throw new Failure("invalid_request", `limit must be an integer from 1 to ${limitMax}.`, { param: "limit" });
  }
  const order = read.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") {
    throw new Failure("invalid_request", "order must be asc or desc.", { param: "order" });
  }
  const source = read.get("source") ?? "custom";
  if (source !== "custom") {
    throw new Failure("invalid_request", "Lists contain the workspace's own skills: source must be custom.", {
      param: "source",
    });
  }
  return { limit, after: read.get(positionOf(vendor)) || null, isOldestFirst: order === "asc" };
}

/** Each object of a page is a request to its vendor. */
const limitMax = 100;
const readTogether = 8;

/** null: the vendor no longer has it. Throws Failure. */
async function show(
  dependencies: RelayDependencies,
  { endpoint, headers, signal }: ObjectRequest,
  requestId: string,
  accounts: ReadonlyMap<string, Provider>,
  object: UpstreamObject,
): Promise<JsonObject | null> {
  const { providerClient, tracing, upstreamObjects, observer } = dependencies;
  const path = `/v1/${endpoint.collection}/${encodeURIComponent(object.id)}`;
  const { provider, kind, target } = passThroughRoute(dependencies, accounts.get(object.provider)?.id ?? "", path, "");
  const draft: OutboundDraft = {
    ...{ provider, upstreamModel: "", stream: false, method: "GET", url: target.url, body: null },
    headers: forwardedHeaders(headers, provider),
  };
  continueTrace(draft.headers, tracing, { requestId, attemptId: requestId, provider });
  const answer = await providerClient.ask(kind, draft, provider.timeouts, signal);
  if (answer.good) return parseObject(new TextDecoder().decode(answer.body));
  if (answer.status !== 404) throw kind.classify(answer);
  await upstreamObjects.end(object).catch((error: unknown) => {
    observer.log("warn", "failed to record a deleted object", { id: object.id, error });
  });
  return null;
}

function openAiPage(data: readonly JsonObject[], page: readonly UpstreamObject[], last: string | null) {
  const first_id = data[0]?.["id"] ?? null;
  return { object: "list", data, first_id, last_id: last ?? page.at(-1)?.id ?? null, has_more: last !== null };
}

function anthropicPage(data: readonly JsonObject[], last: string | null) {
  return { data, has_more: last !== null, next_page: last };
}
