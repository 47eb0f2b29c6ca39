import { silentAnswer } from "../answer.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import { type JsonObject, objectOf, stringOf } from "../json-body.ts";
import { bareRequest } from "../parsed-request.ts";
import { pathPart } from "../path-part.ts";
import type { SimulatorRequest } from "../request.ts";
import { accountOf } from "../seal.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";
import { type ResponseStore, responseAt, type StoredResponse } from "./responses-store.ts";

/**
 * Stored responses: GET and DELETE …/responses/{id}, POST …/cancel, GET …/input_items. Scripts apply to the model of the
 * response. The first retrieval of a finished background response adds its tokens to the records.
 */
export function openAiResponsesStored(store: ResponseStore): Dialect {
  const counted = new WeakSet<StoredResponse>();
  return {
    id: "openai-responses-stored",
    auxiliary: true,
    matches: ({ method, path }) => {
      const match = pathPattern.exec(path);
      if (match === null) return false;
      if (match[2] === "/cancel") return method === "POST";
      return method === "GET" || (method === "DELETE" && match[2] === undefined);
    },
    read(request) {
      const match = pathPattern.exec(request.path);
      const id = pathPart(match?.[1]);
      const stored = store.find(accountOf(request.headers), id);
      if (stored === null) throw new Refusal(404, `Response with id '${id}' not found.`, { param: "id", code: null });
      if (match?.[2] === "/cancel") return plain(stored, cancel(stored));
      if (match?.[2] === "/input_items") return plain(stored, itemsPage(stored, request));
      if (request.method === "DELETE") {
        store.remove(stored);
        return plain(stored, { id, object: "response", deleted: true });
      }
      return retrieval(stored, request, counted);
    },
    headers: openAiHeaders,
    error: openAiError,
  };
}

const pathPattern = /\/responses\/([^/]+)(\/cancel|\/input_items)?$/;

function plain(stored: StoredResponse, body: JsonObject): Exchange {
  return {
    parsed: bareRequest(stringOf(stored.final["model"])),
    ping: null,
    compose: () => silentAnswer(),
    whole: () => JSON.stringify(body),
    events: () => [],
    errorEvent: (refusal, requestId) => ({ data: openAiError(refusal, requestId), tokens: 0, role: "error" }),
  };
}

function retrieval(stored: StoredResponse, request: SimulatorRequest, counted: WeakSet<StoredResponse>): Exchange {
  const query = new URLSearchParams(request.query);
  const body = responseAt(stored, Date.now());
  const exchange = plain(stored, body);
  if (query.get("stream") === "true") {
    const after = Number(query.get("starting_after") ?? -1);
    return { ...exchange, parsed: { ...exchange.parsed, stream: true }, events: () => eventsAfter(stored, after) };
  }
  if (!stored.background || body !== stored.final || counted.has(stored)) return exchange;
  counted.add(stored);
  return { ...exchange, compose: () => stored.answer };
}

/** Repeats the stream from where the caller lost it. */
function* eventsAfter(stored: StoredResponse, after: number): Iterable<DialectEvent> {
  for (const event of stored.events()) {
    const number = objectOf(JSON.parse(event.data))["sequence_number"];
    if (typeof number === "number" && number > after) yield { ...event, tokens: 0 };
  }
}

function cancel(stored: StoredResponse): JsonObject {
  if (!stored.background) {
    throw new Refusal(400, "Only responses created with the background parameter set to true can be cancelled.");
  }
  const now = Date.now();
  if (now < stored.readyAt) stored.cancelled = true;
  return responseAt(stored, now);
}

/** Newest item first by default. */
function itemsPage(stored: StoredResponse, request: SimulatorRequest): JsonObject {
  const query = new URLSearchParams(request.query);
  const suffix = stored.id.slice("resp_".length);
  const items = stored.input.map((item, index) => ({ id: `msg_${suffix}_in${index}`, ...shown(item) }));
  if (query.get("order") !== "asc") items.reverse();
  const from = items.findIndex((item) => item.id === query.get("after")) + 1;
  const limit = Math.min(Math.max(1, Number(query.get("limit") ?? 20) || 20), 100);
  const data = items.slice(from, from + limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < items.length,
  };
}

/** Messages are returned with their content in parts. */
function shown(item: JsonObject): JsonObject {
  const { type, content, role } = item;
  if (type !== "message" || typeof content !== "string") return item;
  return { ...item, content: [{ type: role === "assistant" ? "output_text" : "input_text", text: content }] };
}
