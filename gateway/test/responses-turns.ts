import type { ResponseCreateParams } from "openai/resources/responses/responses";
import { Failure, type Seal, type Turn, type TurnMessage, type TurnPart } from "#core/index.ts";
import { openaiResponsesCodec } from "#protocols/index.ts";
import { silentTurn } from "./silent-turn.ts";

/** Builds, reads and writes turns of the Responses API. */
export const text = (value: string): TurnPart => ({ kind: "text", text: value, cache: null });
export const user = (...parts: TurnPart[]): TurnMessage => ({ role: "user", parts });
export const assistant = (...parts: TurnPart[]): TurnMessage => ({ role: "assistant", parts });
export const call = (id: string, name = "f"): TurnPart => ({
  kind: "tool-call",
  id,
  name,
  argumentsText: '{"a":1}',
  seal: null,
  cache: null,
});
export const result = (callId: string, value = "ok"): TurnPart => ({
  kind: "tool-result",
  callId,
  name: "f",
  parts: [{ kind: "text", text: value, cache: null }],
  isError: false,
  cache: null,
});
export const sealBy = (account: string | null, dialect: Seal["dialect"] = "openai-responses"): Seal => ({
  dialect,
  account,
  data: "gAAA",
  itemId: "rs_1",
});
export const thought = (seal: Seal | null, content = "hm"): TurnPart => ({
  kind: "reasoning",
  text: content,
  seal,
  redacted: false,
});

export function read(request: object): { turn: Turn; warnings: string[] } {
  const warnings: string[] = [];
  const body = encoder.encode(JSON.stringify({ model: "m", ...request }));
  const turn = openaiResponsesCodec.readTurn(body, { model: "m", stream: false }, (what) => warnings.push(what));
  return { turn, warnings };
}
export function write(
  turn: Partial<Turn>,
  traits = {},
): { body: ResponseCreateParams; items: Record<string, unknown>[]; warnings: string[] } {
  const warnings: string[] = [];
  const target = { upstreamModel: "up", account: "acc", traits, newId: (prefix: string) => `${prefix}1` };
  const bytes = openaiResponsesCodec.writeTurn({ ...silentTurn, ...turn }, target, (what) => warnings.push(what));
  const body = JSON.parse(new TextDecoder().decode(bytes)) as ResponseCreateParams;
  return { body, items: body.input as unknown as Record<string, unknown>[], warnings };
}
export function refusal(act: () => unknown): { code: string; param: string | null; retry: string } {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof Failure) return { code: thrown.code, param: thrown.param, retry: thrown.retry };
    throw thrown;
  }
  throw new Error("was accepted");
}

const encoder = new TextEncoder();
