import { type Answer, type AnswerUsage, wholeText } from "../answer.ts";
import { type Dialect, type Exchange, Refusal, type ReplyHead } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import { countOf, parseObject, stringOf } from "../json-body.ts";
import { bareRequest } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";
import { splitMarker, splitModel } from "../script-source.ts";
import { countWords } from "../words.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";

/**
 * Mistral's fill-in-the-middle: the text between a prompt and a suffix, answered as a chat message. Unknown fields are refused; a
 * stream's last chunk has usage without being requested.
 */
export const mistralFim: Dialect = {
  id: "mistral-fim",
  matches: ({ method, path }) => method === "POST" && path.endsWith("/fim/completions"),
  read,
  headers: openAiHeaders,
  error: openAiError,
};

const allowedFields: ReadonlySet<string> = new Set([
  "model",
  "prompt",
  "suffix",
  "temperature",
  "top_p",
  "max_tokens",
  "min_tokens",
  "stream",
  "stop",
  "random_seed",
  "metadata",
]);

function read(request: SimulatorRequest): Exchange {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "We could not parse the JSON body of your request.");
  for (const name of Object.keys(body)) {
    if (!allowedFields.has(name)) throw new Refusal(422, `extra_forbidden: ${name}`, { param: name });
  }
  const modelParts = splitModel(stringOf(body["model"]));
  const promptParts = splitMarker(stringOf(body["prompt"]));
  if (modelParts.model === "" || promptParts.text === "")
    throw new Refusal(422, "missing: model and prompt are required");
  const parsed = {
    ...bareRequest(modelParts.model, countWords(promptParts.text) + countWords(stringOf(body["suffix"]))),
    stream: body["stream"] === true,
    prompt: promptParts.text,
    outputMax: countOf(body["max_tokens"]) ?? Number.POSITIVE_INFINITY,
    script: { ...modelParts.script, ...promptParts.script },
  };
  return {
    parsed,
    ping: null,
    whole: (head, answer) => whole(parsed.model, head, answer),
    events: (head, answer) => events(parsed.model, head, answer),
    errorEvent: (refusal, requestId) => ({ data: openAiError(refusal, requestId), tokens: 0, role: "error" }),
  };
}

function whole(model: string, head: ReplyHead, answer: Answer): string {
  const content = textParts(answer).map(wholeText).join("");
  const message = { role: "assistant", content, tool_calls: null };
  const choices = [{ index: 0, message, finish_reason: finishOf(answer) }];
  return JSON.stringify({ ...opening(model, head, "chat.completion"), choices, ...usageOf(answer.usage) });
}

function* events(model: string, head: ReplyHead, answer: Answer): Iterable<DialectEvent> {
  const chunk = (delta: object, finish_reason: string | null, more: object = {}): string =>
    JSON.stringify({
      ...opening(model, head, "chat.completion.chunk"),
      choices: [{ index: 0, delta, finish_reason }],
      ...more,
    });
  yield { data: chunk({ role: "assistant", content: "" }, null), tokens: 0 };
  for (const part of textParts(answer)) {
    for (let at = 0; at < part.count; at += 1) {
      yield { data: chunk({ content: part.piece(at) }, null), tokens: 1, role: "content" };
    }
  }
  yield { data: chunk({ content: "" }, finishOf(answer), usageOf(answer.usage)), tokens: 0, role: "usage" };
  yield { data: "[DONE]", tokens: 0, role: "terminal" };
}

function textParts({ parts }: Answer): Answer["parts"] {
  return parts.filter(({ kind }) => kind === "text");
}

function opening(model: string, { sequence, created }: ReplyHead, object: string): object {
  return { id: `cmpl-sim${sequence}`, object, created, model };
}

function finishOf({ finish }: Answer): string {
  return finish === "length" ? "length" : "stop";
}

function usageOf(usage: AnswerUsage | null): object {
  if (usage === null) return {};
  const { prompt, output } = usage;
  return { usage: { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output } };
}
