import { expect, test } from "bun:test";
import type { KeyCall } from "../../media/key-call.ts";
import { type Completed, complete, completionBody, pieceOf, plainCompletion } from "./complete.ts";

const answering = (...events: readonly string[]): KeyCall => ({
  workspace: "w",
  key: "k",
  send: async () => new Response(events.map((event) => `data: ${event}\n\n`).join("")),
});

test("the text grows with each chunk, and the surrounding text is kept", async () => {
  const seen: Completed[] = [];
  const body = completionBody("m", { ...plainCompletion, prompt: "def f(", suffix: "return x" });
  const call = answering('{"choices":[{"text":"x"}]}', '{"choices":[{"text":"):","finish_reason":"stop"}]}', "[DONE]");
  const whole = await complete(call, body, { signal: new AbortController().signal, show: (part) => seen.push(part) });
  expect(seen.map(({ text }) => text)).toEqual(["x", "x):"]);
  expect(whole).toMatchObject({ prompt: "def f(", text: "x):", suffix: "return x", finish: "stop" });
});

test("empty settings use the model's defaults", () => {
  expect(Object.keys(completionBody("m", plainCompletion))).toEqual(["model", "prompt", "stream", "stream_options"]);
  expect(pieceOf({ choices: [] })).toEqual({ text: "", finish: null });
});
