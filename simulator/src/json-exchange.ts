import { silentAnswer } from "./answer.ts";
import type { ByteSource } from "./byte-source.ts";
import type { Exchange } from "./dialect.ts";
import type { HeaderRow } from "./outlet.ts";
import { bareRequest } from "./parsed-request.ts";
import { emptyScript, type Script } from "./script.ts";
import type { TruthRecord } from "./truth.ts";

/** A call that generates no text: it performs an action and reports it. */
export interface JsonTurn {
  readonly model: string;
  readonly promptTokens?: number;
  /** The script in the request's text and model name. */
  readonly script?: Script;
  readonly presetName?: string;
  readonly inherited?: Script;
  readonly status?: number;
  readonly rows?: readonly HeaderRow[];
  /** Performs the action once the script is known. Returns the response body; undefined is an empty one. Throws Refusal. */
  act(script: Script, record: TruthRecord): unknown;
}

export function jsonExchange(turn: JsonTurn): Exchange {
  const { presetName, inherited, status, rows } = turn;
  let body: unknown;
  return {
    parsed: { ...bareRequest(turn.model, turn.promptTokens), script: turn.script ?? emptyScript },
    ...(presetName === undefined ? {} : { presetName }),
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

/** The same for a response in bytes: `act` returns their source. */
export function bytesExchange(turn: Omit<JsonTurn, "act"> & { act(script: Script): ByteSource }): Exchange {
  let source: ByteSource | null = null;
  return {
    ...jsonExchange({ ...turn, act: () => undefined }),
    admit(script) {
      source = turn.act(script);
    },
    bytes() {
      if (source === null) throw new Error("bytes() was called before the call was admitted");
      return source;
    },
  };
}
