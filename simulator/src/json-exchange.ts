import { silentAnswer } from "./answer.ts";
import type { ByteSource } from "./byte-source.ts";
import type { Exchange } from "./dialect.ts";
import type { HeaderRow } from "./outlet.ts";
import { bareRequest } from "./parsed-request.ts";
import { emptyScript, type Script } from "./script.ts";
import type { TruthRecord } from "./truth.ts";

/** A call that generates no words: it does something and tells of it. */
export interface JsonTurn {
  readonly model: string;
  readonly promptTokens?: number;
  /** What the request's own text and model name say. */
  readonly script?: Script;
  readonly aside?: string;
  readonly inherited?: Script;
  readonly status?: number;
  readonly rows?: readonly HeaderRow[];
  /** Does it, once the script is known. Gives the answer's body; undefined is an empty one. Throws Refusal. */
  act(script: Script, record: TruthRecord): unknown;
}

export function jsonExchange(turn: JsonTurn): Exchange {
  const { aside, inherited, status, rows } = turn;
  let body: unknown;
  return {
    asked: { ...bareRequest(turn.model, turn.promptTokens), script: turn.script ?? emptyScript },
    ...(aside === undefined ? {} : { aside }),
    ...(inherited === undefined ? {} : { inherited }),
    ...(status === undefined ? {} : { status }),
    ...(rows === undefined ? {} : { rows }),
    ping: null,
    admit(script, record) {
      body = turn.act(script, record);
    },
    compose: () => silentAnswer(turn.promptTokens),
    whole: () => (body === undefined ? "" : JSON.stringify(body)),
    events: () => [],
    errorEvent: () => ({ data: "", tokens: 0, role: "error" }),
  };
}

/** The same with bytes as the answer: `act` gives where they come from. */
export function bytesExchange(turn: Omit<JsonTurn, "act"> & { act(script: Script): ByteSource }): Exchange {
  let source: ByteSource | null = null;
  return {
    ...jsonExchange({ ...turn, act: () => undefined }),
    admit(script) {
      source = turn.act(script);
    },
    bytes() {
      if (source === null) throw new Error("bytes are asked for after the call is admitted");
      return source;
    },
  };
}
