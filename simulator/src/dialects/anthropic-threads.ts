import { bounds } from "../bounds.ts";
import { Refusal } from "../dialect.ts";
import { isObject, type JsonObject, objectOf, objectsOf, parseObject, stringOf } from "../json-body.ts";
import type { SimulatorRequest } from "../request.ts";
import { accountOf } from "../seal.ts";

/** One turn of a thread, kept for the account that made it under the id of its answer. */
interface KeptTurn {
  readonly account: string;
  readonly fingerprint: JsonObject;
  /** What the thread was begun with: what a later turn need not say again. */
  readonly begun: JsonObject;
  /** The whole conversation, with the answer. */
  readonly messages: readonly JsonObject[];
  continued: boolean;
}

export interface ThreadTurn {
  /** The request as it would be without a thread: with the whole conversation. */
  readonly body: Uint8Array;
  /** Its answer, a whole message. */
  keep(message: string): void;
}

/** Message threads, as beta `message-threads-2026-08-12` has them. Bounded: the oldest turns leave first. */
export class ThreadStore {
  readonly #turns = new Map<string, KeptTurn>();

  /** null: the request has no thread. Throws Refusal as the vendor refuses. */
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
    const fingerprint = { ...pick(body, fixed), betas: betas.toSorted() };
    const before = thread["type"] === "continue" ? this.#continued(account, thread, fingerprint) : null;
    if (before === null && thread["type"] !== "create") throw new Refusal(400, "thread.type: Input should be 'create'");
    const said = { ...before?.begun, ...body, thread: undefined };
    const messages = [...(before?.messages ?? []), ...objectsOf(body["messages"])];
    return {
      body: Buffer.from(JSON.stringify({ ...said, messages })),
      keep: (text) => {
        const message = objectOf(parseObject(Buffer.from(text)));
        if (message["stop_reason"] === "refusal") return;
        const answer = { role: "assistant", content: message["content"] };
        const begun = pick(said, ["system", "tools"]);
        const kept = { account, fingerprint, begun, messages: [...messages, answer], continued: false };
        this.#turns.set(stringOf(message["id"]), kept);
        if (before !== null) before.continued = true;
        for (const oldest of this.#turns.keys()) {
          if (this.#turns.size <= bounds.storedResponsesMax) break;
          this.#turns.delete(oldest);
        }
      },
    };
  }

  #continued(account: string, thread: JsonObject, fingerprint: JsonObject): KeptTurn {
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

/** What must be equal in each turn. */
const fixed = ["model", "thinking", "tool_choice", "output_config", "cache_control"];

function pick(body: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => body[name] !== undefined).map((name) => [name, body[name]]));
}

function refused(status: number, message: string, errorCode: string): Refusal {
  return new Refusal(status, message, { details: { error_code: errorCode } });
}
