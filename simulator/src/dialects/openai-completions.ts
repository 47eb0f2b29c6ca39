import { type Answer, type AnswerUsage, wholeText } from "../answer.ts";
import { bounds } from "../bounds.ts";
import { type Dialect, type Exchange, Refusal, type ReplyHead } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import { countOf, objectOf, parseObject, stringOf } from "../json-body.ts";
import { bareRequest } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";
import { splitMarker, splitModel } from "../script-source.ts";
import { countWords } from "../words.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";

/** OpenAI's legacy completions, with any base path. */
export const openAiCompletions: Dialect = {
  id: "openai-completions",
  matches: ({ method, path }) =>
    method === "POST" && path.endsWith("/completions") && !path.endsWith("/chat/completions"),
  read,
  headers: openAiHeaders,
  error: openAiError,
};

function read(request: SimulatorRequest): Exchange {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "We could not parse the JSON body of your request.");
  const modelParts = splitModel(stringOf(body["model"]));
  if (modelParts.model === "") throw new Refusal(400, "you must provide a model parameter");
  const prompts = promptsOf(body["prompt"]);
  const promptParts = splitMarker(prompts[0] ?? "");
  const words = [...prompts, stringOf(body["suffix"])].reduce(
    (sum, text) => sum + countWords(splitMarker(text).text),
    0,
  );
  const stream = body["stream"] === true;
  const choices = Math.max(1, countOf(body["n"]) ?? 1) * prompts.length;
  const parsed = {
    ...bareRequest(modelParts.model, words),
    stream,
    prompt: promptParts.text,
    outputMax: countOf(body["max_tokens"]) ?? Number.POSITIVE_INFINITY,
    choices: Math.min(choices, bounds.choicesMax),
    script: { ...modelParts.script, ...promptParts.script },
  };
  const includeUsage = stream && objectOf(body["stream_options"])["include_usage"] === true;
  return {
    parsed,
    ping: null,
    whole: (head, answer) => whole(parsed.model, head, answer),
    events: (head, answer) => events(parsed.model, includeUsage, head, answer),
    errorEvent: (refusal, requestId) => ({ data: openAiError(refusal, requestId), tokens: 0, role: "error" }),
  };
}

/** A string, strings, or the token ids of one or several prompts, each of which counts as a word. */
function promptsOf(prompt: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(prompt) && typeof prompt[0] !== "number" ? prompt : [prompt];
  return list.map((prompt) => (Array.isArray(prompt) ? prompt.join(" ") : stringOf(prompt)));
}

function opening(model: string, { sequence, created }: ReplyHead): string {
  return `{"id":"cmpl-sim${sequence}","object":"text_completion","created":${created},"model":${JSON.stringify(model)},`;
}

function whole(model: string, head: ReplyHead, answer: Answer): string {
  const text = answer.parts
    .filter(({ kind }) => kind === "text")
    .map(wholeText)
    .join("");
  const choices = Array.from({ length: answer.choices }, (_, index) => choice(index, text, finishOf(answer)));
  const usage = answer.usage === null ? "" : `,"usage":${JSON.stringify(usageOf(answer.usage))}`;
  return `${opening(model, head)}"choices":[${choices.join(",")}]${usage}}`;
}

function* events(model: string, includeUsage: boolean, head: ReplyHead, answer: Answer): Iterable<DialectEvent> {
  const start = `${opening(model, head)}"choices":[`;
  const end = includeUsage && answer.usage !== null ? '],"usage":null}' : "]}";
  for (const part of answer.parts.filter(({ kind }) => kind === "text")) {
    for (let at = 0; at < part.count; at += 1) {
      for (let index = 0; index < answer.choices; index += 1) {
        yield { data: start + choice(index, part.piece(at), null) + end, tokens: 1, role: "content" };
      }
    }
  }
  for (let index = 0; index < answer.choices; index += 1) {
    yield { data: start + choice(index, "", finishOf(answer)) + end, tokens: 0 };
  }
  if (includeUsage && answer.usage !== null) {
    yield { data: `${start}],"usage":${JSON.stringify(usageOf(answer.usage))}}`, tokens: 0, role: "usage" };
  }
  yield { data: "[DONE]", tokens: 0, role: "terminal" };
}

function choice(index: number, text: string, finish: string | null): string {
  return `{"text":${JSON.stringify(text)},"index":${index},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}`;
}

function finishOf({ finish }: Answer): string {
  return finish === "length" ? "length" : "stop";
}

function usageOf({ prompt, output, cached }: AnswerUsage): object {
  const details = cached === 0 ? {} : { prompt_tokens_details: { cached_tokens: cached } };
  return { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output, ...details };
}
