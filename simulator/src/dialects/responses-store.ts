import type { Answer } from "../answer.ts";
import { bounds } from "../bounds.ts";
import type { DialectEvent } from "../framing.ts";
import { type JsonObject, objectsOf } from "../json-body.ts";

/** A stored response. It belongs to the account that created it. */
export interface StoredResponse {
  readonly id: string;
  readonly account: string;
  /** The input items of its request, without those of previous responses. */
  readonly input: readonly JsonObject[];
  readonly previous: StoredResponse | null;
  /** The completed response. */
  readonly final: JsonObject;
  readonly answer: Answer;
  readonly background: boolean;
  /** The time span in Unix milliseconds during which a background response is incomplete. */
  readonly startedAt: number;
  readonly readyAt: number;
  cancelled: boolean;
  /** Its stream from the first event. */
  readonly events: () => Iterable<DialectEvent>;
}

/** The storage for `store` and `previous_response_id`. Bounded: the oldest responses are dropped first. */
export interface ResponseStore {
  /** Part of every id, so that ids of two simulators differ. */
  readonly nonce: string;
  put(response: StoredResponse): void;
  /** Returns null for an id that is unknown or belongs to another account. */
  find(account: string, id: string): StoredResponse | null;
  remove(response: StoredResponse): void;
  /** Whether this account has an item with this id. */
  hasItem(account: string, id: string): boolean;
}

export function createResponseStore(): ResponseStore {
  const byId = new Map<string, StoredResponse>();
  return {
    nonce: crypto.randomUUID().slice(0, 8),
    put(response) {
      byId.set(response.id, response);
      for (const oldest of byId.keys()) {
        if (byId.size <= bounds.storedResponsesMax) break;
        byId.delete(oldest);
      }
    },
    find(account, id) {
      const response = byId.get(id);
      return response?.account === account ? response : null;
    },
    remove: (response) => void byId.delete(response.id),
    hasItem(account, id) {
      for (const response of byId.values()) {
        if (response.account !== account) continue;
        if (itemsOf(response).some((item) => item["id"] === id)) return true;
      }
      return false;
    },
  };
}

/** All items up to and including this response. */
export function historyOf(response: StoredResponse | null): readonly JsonObject[] {
  const turns: (readonly JsonObject[])[] = [];
  for (let current = response; current !== null; current = current.previous) turns.unshift(itemsOf(current));
  return turns.flat();
}

/** The response as it is at this time. */
export function responseAt(stored: StoredResponse, now: number): JsonObject {
  const { final, startedAt, readyAt } = stored;
  const unfinished = { ...final, output: [], usage: null, error: null, incomplete_details: null, completed_at: null };
  if (stored.cancelled) return { ...unfinished, status: "cancelled" };
  if (now >= readyAt) return final;
  return { ...unfinished, status: now - startedAt < (readyAt - startedAt) / 2 ? "queued" : "in_progress" };
}

function itemsOf(response: StoredResponse): readonly JsonObject[] {
  return [...response.input, ...objectsOf(response.final["output"])];
}
