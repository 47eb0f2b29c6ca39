import { describe, expect, test } from "bun:test";
import { toolNamesMax } from "@sluice/contract/words";
import { toolNameCharactersMax, toolsIn } from "./captured-tools.ts";

const events = (...all: object[]) => all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const read = (request: object, response: object | string = {}) =>
  toolsIn(JSON.stringify(request), typeof response === "string" ? response : JSON.stringify(response));
const called = (name: string, calls = 1) => ({ name, calls, results: 0, errors: 0 });
const answered = (name: string, results = 1, errors = 0) => ({ name, calls: 0, results, errors });
const use = (id: string, name: string) => ({ type: "tool_use", id, name, input: {} });

describe("toolsIn", () => {
  test("joins the pieces of a streamed chat, also of parallel calls", () => {
    const piece = (index: number, name?: string) => ({
      choices: [{ index: 0, delta: { tool_calls: [{ index, function: { name, arguments: "{" } }] } }],
    });
    const stream = `${events(piece(0, "re"), piece(0, "ad"), piece(1, "write"), piece(0))}data: [DONE]\n\n`;
    expect(toolsIn("", stream)).toEqual([called("read"), called("write")]);
  });

  test("counts an item once that several events of Responses contain, and names items without a name by their type", () => {
    const shell = { type: "local_shell_call", id: "ls_1", call_id: "call_1", action: {} };
    const patch = { type: "custom_tool_call", id: "ct_1", call_id: "call_2", name: "apply_patch", input: "" };
    const search = { type: "web_search_call", id: "ws_1", status: "completed" };
    const stream = events(
      { type: "response.output_item.added", item: shell },
      { type: "response.output_item.done", item: shell },
      { type: "response.output_item.done", item: search },
      { type: "response.completed", response: { output: [shell, patch, search] } },
    );
    expect(toolsIn("", stream)).toEqual([called("local_shell"), called("apply_patch")]);
  });

  test("reads a stream of Gemini that is a JSON array, and calls without ids", () => {
    const part = { functionCall: { name: "look", args: {} } };
    const chunk = { candidates: [{ content: { role: "model", parts: [part] } }] };
    expect(toolsIn("", JSON.stringify([chunk, chunk]))).toEqual([called("look", 2)]);
  });

  test("counts only the results after the last answer, and their errors", () => {
    const result = (id: string, failed: boolean) => ({ type: "tool_result", tool_use_id: id, is_error: failed });
    const messages = [
      { role: "assistant", content: [use("a", "Read")] },
      { role: "user", content: [result("a", true)] },
      { role: "assistant", content: [use("b", "Read"), use("c", "Bash")] },
      { role: "user", content: [result("b", false), result("c", true), { type: "text", text: "Go on" }] },
    ];
    expect(read({ messages })).toEqual([answered("Read"), answered("Bash", 1, 1)]);
    expect(read({ messages: [...messages, { role: "assistant", content: "Done" }, { role: "user" }] })).toEqual([]);
  });

  test("reads functions of older chats", () => {
    const function_call = { name: "look", arguments: "{}" };
    const messages = [
      { role: "assistant", function_call },
      { role: "function", name: "look", content: "" },
    ];
    expect(read({ messages }, { choices: [{ message: { function_call } }] })).toEqual([
      { name: "look", calls: 1, results: 1, errors: 0 },
    ]);
  });

  test("keeps at most fifty names of at most 64 characters", () => {
    const content = Array.from({ length: 80 }, (_, n) => use(`id_${n}`, `${n}-${"x".repeat(200)}`));
    const tools = read({}, { type: "message", content });
    expect(tools).toHaveLength(toolNamesMax);
    for (const { name } of tools) expect(name).toHaveLength(toolNameCharactersMax);
  });

  test.each([
    ["an empty body", ""],
    ["a truncated body", '{"messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"loo'],
    ["a note", "[image/png, 12 bytes]"],
    ["other JSON", '{"choices":7,"content":{"type":"tool_use"},"output":[null],"candidates":"x","item":[]}'],
    ["deep JSON", "[".repeat(60_000)],
  ])("finds nothing in %s", (_title, text) => {
    expect(toolsIn(text, text)).toEqual([]);
  });
});
