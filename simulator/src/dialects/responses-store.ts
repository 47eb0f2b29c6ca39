import type { Answer } from "../answer.ts";
import { bounds } from "../bounds.ts";
import type { DialectEvent } from "../framing.ts";
import { type JsonObject, objectsOf } from "../json-body.ts";

/** A response kept for the account that made it. */
export interface StoredResponse {
  readonly id: string;
  readonly account: string;
  /** The items of its own request, without what came before. */
  readonly input: readonly JsonObject[];
  readonly previous: StoredResponse | null;
  /** As it is when it is finished. */
  readonly final: JsonObject;
  readonly answer: Answer;
  readonly background: boolean;
  /** Unix milliseconds, between which a background response is unfinished. */
  readonly startedAt: number;
  readonly readyAt: number;
  cancelled: boolean;
  /** Its stream, from the first event. */
  readonly events: () => Iterable<DialectEvent>;
}

/** The memory behind `store` and `previous_response_id`: bounded, the oldest leave first. */
export interface ResponseStore {
  /** In every id, so that those of two simulators differ. */
  readonly nonce: string;
  put(response: StoredResponse): void;
  /** Null for an id of another account as for one that never was. */
  find(account: string, id: string): StoredResponse | null;
  remove(response: StoredResponse): void;
  /** Whether this account has an item of this id. */
  knowsItem(account: string, id: string): boolean;
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
      const found = byId.get(id);
      return found?.account === account ? found : null;
    },
    remove: (response) => void byId.delete(response.id),
    knowsItem(account, id) {
      for (const response of byId.values()) {
        if (response.account !== account) continue;
        if (itemsOf(response).some((item) => item["id"] === id)) return true;
      }
      return false;
    },
  };
}

/** Everything said up to and with this response. */
export function historyOf(response: StoredResponse | null): readonly JsonObject[] {
  const turns: (readonly JsonObject[])[] = [];
  for (let one = response; one !== null; one = one.previous) turns.unshift(itemsOf(one));
  return turns.flat();
}

/** The response as it is at this moment. */
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
