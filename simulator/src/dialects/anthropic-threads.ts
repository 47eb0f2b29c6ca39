import { bounds } from "../bounds.ts";
import { Refusal } from "../dialect.ts";
import { isObject, type JsonObject, objectOf, objectsOf, parseObject, stringOf } from "../json-body.ts";
import type { SimulatorRequest } from "../request.ts";
import { accountOf } from "../seal.ts";

/** A stored turn of a thread. It belongs to an account and has its answer's id. */
interface StoredTurn {
  readonly account: string;
  readonly fingerprint: JsonObject;
  /** The options that the thread was created with, which later turns may omit. */
  readonly options: JsonObject;
  /** The complete conversation, including the answer. */
  readonly messages: readonly JsonObject[];
  continued: boolean;
}

export interface ThreadTurn {
  /** The equivalent request without a thread, with the complete conversation. */
  readonly body: Uint8Array;
  /** Stores the answer, a complete message. */
  store(message: string): void;
}

/** Message threads of the beta `message-threads-2026-08-12`. Bounded: the oldest turns are dropped first. */
export class ThreadStore {
  readonly #turns = new Map<string, StoredTurn>();

  /** Returns null for a request without a thread. Throws Refusal as the vendor does. */
  open(request: SimulatorRequest): ThreadTurn | null {
    const body = parseObject(request.body);
    const thread = body?.["thread"];
    if (body === null || thread === undefined || thread === null) return null;
    const betas = (request.headers["anthropic-beta"] ?? "").split(",").map((beta) => beta.trim());
    if (!betas.some((beta) => beta.startsWith("message-threads-"))) {
      throw new Refusal(400, "thread: Extra inputs are not permitted");
    }
    if (!isObject(thread)) throw new Refusal(400, "thread: Input should be an object");
    const account = accountOf(request.headers);
    const fingerprint = { ...pick(body, fixedFields), betas: betas.toSorted() };
    const before = thread["type"] === "continue" ? this.#find(account, thread, fingerprint) : null;
    if (before === null && thread["type"] !== "create") throw new Refusal(400, "thread.type: Input should be 'create'");
    const merged = { ...before?.options, ...body, thread: undefined };
    const messages = [...(before?.messages ?? []), ...objectsOf(body["messages"])];
    return {
      body: Buffer.from(JSON.stringify({ ...merged, messages })),
      store: (text) => {
        const message = objectOf(parseObject(Buffer.from(text)));
        if (message["stop_reason"] === "refusal") return;
        const answer = { role: "assistant", content: message["content"] };
        const options = pick(merged, ["system", "tools"]);
        const turn = { account, fingerprint, options, messages: [...messages, answer], continued: false };
        this.#turns.set(stringOf(message["id"]), turn);
        if (before !== null) before.continued = true;
        for (const oldest of this.#turns.keys()) {
          if (this.#turns.size <= bounds.storedResponsesMax) break;
          this.#turns.delete(oldest);
        }
      },
    };
  }

  #find(account: string, thread: JsonObject, fingerprint: JsonObject): StoredTurn {
    const id = stringOf(thread["previous_message_id"]);
    const turn = this.#turns.get(id);
    if (turn === undefined || turn.account !== account) {
      throw refused(404, `thread: no thread continues from ${id}`, "thread_not_found");
    }
    if (turn.continued) throw refused(400, `thread: ${id} was already continued`, "thread_already_continued");
    const differing = Object.keys({ ...turn.fingerprint, ...fingerprint }).filter(
      (name) => JSON.stringify(turn.fingerprint[name]) !== JSON.stringify(fingerprint[name]),
    );
    if (differing.length > 0) {
      throw refused(400, `thread: differing field(s): ${differing.join(", ")}`, "thread_fingerprint_mismatch");
    }
    return turn;
  }
}

/** Fields that must be equal in every turn. */
const fixedFields = ["model", "thinking", "tool_choice", "output_config", "cache_control"];

function pick(body: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => body[name] !== undefined).map((name) => [name, body[name]]));
}

function refused(status: number, message: string, errorCode: string): Refusal {
  return new Refusal(status, message, { details: { error_code: errorCode } });
}
