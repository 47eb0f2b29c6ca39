import type { ToolUse } from "@sluice/contract/console";
import { toolNamesMax } from "@sluice/contract/words";
import { jsonValues, type Members, membersIn, membersOf, textOf } from "./captured-json.ts";

/** Longer names are cut. */
export const toolNameCharactersMax = 64;

/**
 * The caller's tools in captured bodies of any dialect: calls in the answer, and the results of the latest calls in the request. Earlier
 * ones were counted with the requests before. A truncated request has no readable results.
 */
export function toolsIn(request: string | null, response: string | null): readonly ToolUse[] {
  const uses: ToolUse[] = [];
  for (const name of callsIn(response ?? "")) uses.push({ name, calls: 1, results: 0, errors: 0 });
  for (const { name, failed } of latestResults(request ?? "")) {
    uses.push({ name, calls: 0, results: 1, errors: failed ? 1 : 0 });
  }
  return sumTools(uses);
}

/** One entry for each name, most calls first; at most `toolNamesMax`. */
export function sumTools(uses: Iterable<ToolUse>): readonly ToolUse[] {
  const byName = new Map<string, ToolUse>();
  for (const { name, calls, results, errors } of uses) {
    const sum = byName.get(name) ?? { name, calls: 0, results: 0, errors: 0 };
    byName.set(name, {
      name,
      calls: sum.calls + calls,
      results: sum.results + results,
      errors: sum.errors + errors,
    });
  }
  return [...byName.values()].toSorted((a, b) => b.calls - a.calls || b.results - a.results).slice(0, toolNamesMax);
}

interface Call {
  readonly id: string | null;
  readonly name: string;
}

interface Result {
  readonly id: string | null;
  /** null: use the name of its call. */
  readonly name: string | null;
  readonly failed: boolean;
}

/** Names of the called tools. A call that several events of a stream repeat or continue counts once. */
function callsIn(response: string): Iterable<string> {
  const calls = new Map<string, string>();
  for (const event of jsonValues(response)) {
    for (const { id, name } of answerCalls(event)) calls.set(id ?? `call ${calls.size}`, name);
    for (const { place, name } of chatPieces(event)) calls.set(place, (calls.get(place) ?? "") + name);
  }
  return [...calls.values()].flatMap((name) => shortName(name) ?? []);
}

/** Calls in a whole answer, or in one event of a stream, except pieces of a chat. */
function answerCalls(event: Members): readonly Call[] {
  const response = event["response"] === undefined ? event : membersOf(event["response"]);
  return [
    ...membersIn(event["choices"]).flatMap((choice) => messageCalls(membersOf(choice["message"]))),
    ...blockCalls(event["content"]),
    ...blockCalls([event["content_block"]]),
    ...itemCalls(response["output"]),
    ...itemCalls([event["item"]]),
    ...membersIn(event["candidates"]).flatMap(({ content }) => partCalls(content)),
  ];
}

/** Pieces of names in a streamed chat. `place`: the same for all pieces of a call. */
function chatPieces(event: Members): readonly { readonly place: string; readonly name: string }[] {
  return membersIn(event["choices"]).flatMap(({ index, delta }) =>
    membersIn(membersOf(delta)["tool_calls"]).map((call) => ({
      place: `choice ${index} ${call["index"]}`,
      name: calleeName(call) ?? "",
    })),
  );
}

/** Results after the last answer of the model. */
function latestResults(request: string): readonly { readonly name: string; readonly failed: boolean }[] {
  const [body = {}] = jsonValues(request);
  const names = new Map<string, string>();
  let results: Result[] = [];
  for (const turn of [...membersIn(body["messages"]), ...membersIn(body["input"]), ...membersIn(body["contents"])]) {
    const calls = [...messageCalls(turn), ...itemCalls([turn]), ...partCalls(turn)];
    for (const { id, name } of calls) if (id !== null) names.set(id, name);
    const { role, type } = turn;
    const isAnswer = calls.length > 0 || role === "assistant" || role === "model" || type === "reasoning";
    if (isAnswer) results = [];
    else results.push(...resultsIn(turn));
  }
  return results.flatMap(({ id, name, failed }) => {
    const short = shortName(name ?? names.get(id ?? "") ?? "");
    return short === null ? [] : [{ name: short, failed }];
  });
}

function resultsIn(turn: Members): readonly Result[] {
  const { role, type, status } = turn;
  const id = textOf(turn["call_id"]);
  if (role === "tool") return [{ id: textOf(turn["tool_call_id"]), name: null, failed: false }];
  if (role === "function") return [{ id: null, name: textOf(turn["name"]), failed: false }];
  if (id !== null && textOf(type)?.endsWith("_output")) return [{ id, name: null, failed: status === "failed" }];
  const blocks = membersIn(turn["content"]).filter((block) => block["type"] === "tool_result");
  const responses = membersIn(turn["parts"]).map((part) => membersOf(part["functionResponse"]));
  return [
    ...blocks.map((block) => ({ id: textOf(block["tool_use_id"]), name: null, failed: block["is_error"] === true })),
    ...responses
      .filter((response) => textOf(response["name"]) !== null)
      .map(({ name, response }) => ({ id: null, name: textOf(name), failed: "error" in membersOf(response) })),
  ];
}

/** Of a chat or of Messages. */
function messageCalls(message: Members): readonly Call[] {
  const legacy = textOf(membersOf(message["function_call"])["name"]);
  return [
    ...membersIn(message["tool_calls"]).flatMap((call) => callOf(call["id"], calleeName(call))),
    ...(legacy === null ? [] : [{ id: null, name: legacy }]),
    ...blockCalls(message["content"]),
  ];
}

function calleeName(call: Members): string | null {
  return textOf(membersOf(call["function"] ?? call["custom"])["name"]);
}

function blockCalls(content: unknown): readonly Call[] {
  return membersIn(content).flatMap(({ type, id, name }) => (type === "tool_use" ? callOf(id, name) : []));
}

/** Items of Responses. Only calls that the caller executes have a `call_id`. Without a name, the type is used. */
function itemCalls(items: unknown): readonly Call[] {
  return membersIn(items).flatMap(({ type, call_id: id, name }) => {
    const kind = /^(.+)_call$/.exec(textOf(type) ?? "")?.[1];
    return kind === undefined || textOf(id) === null ? [] : callOf(id, name ?? kind);
  });
}

/** Parts of Gemini. */
function partCalls(content: unknown): readonly Call[] {
  return membersIn(membersOf(content)["parts"]).flatMap((part) => {
    const { id, name } = membersOf(part["functionCall"]);
    return callOf(id, name);
  });
}

function callOf(id: unknown, name: unknown): readonly Call[] {
  const text = textOf(name);
  return text === null ? [] : [{ id: textOf(id), name: text }];
}

function shortName(name: string): string | null {
  return name === "" ? null : name.slice(0, toolNameCharactersMax);
}
