import { type Answer, type AnswerUsage, wholeText } from "../answer.ts";
import { bounds } from "../bounds.ts";
import { type Asked, type Dialect, type DialectEvent, Refusal, type Reply } from "../dialect.ts";
import { splitModel } from "../script-source.ts";
import { chatTool, promptOf } from "./openai-chat-prompt.ts";
import { openAiError, openAiHeaders } from "./openai-face.ts";

/** OpenAI's chat completions, at any base path that ends in /chat/completions. */
export const openAiChat: Dialect = {
  id: "openai-chat",
  matches: (method, path) => method === "POST" && path.endsWith("/chat/completions"),
  read,
  reply,
  events,
  headers: (requestId, asked) => openAiHeaders(requestId, asked?.model ?? null),
  error: openAiError,
};

function read(body: Uint8Array): Asked {
  const request = parse(body);
  if (typeof request["model"] !== "string" || request["model"] === "") {
    throw new Refusal(400, "you must provide a model parameter");
  }
  if (!Array.isArray(request["messages"])) {
    throw new Refusal(400, "Missing required parameter: 'messages'.", {
      param: "messages",
      code: "missing_required_parameter",
    });
  }
  const messages: readonly unknown[] = request["messages"];
  const named = splitModel(request["model"]);
  const prompt = promptOf(messages);
  const options = asRecord(request["stream_options"]);
  const stream = request["stream"] === true;
  return {
    model: named.model,
    stream,
    prompt: prompt.last,
    promptTokens: prompt.words,
    outputMax: firstNumber(request["max_completion_tokens"], request["max_tokens"]) ?? Number.POSITIVE_INFINITY,
    choices: Math.min(Math.max(1, firstNumber(request["n"]) ?? 1), bounds.choicesMax),
    tool: chatTool(request["tools"], request["tool_choice"], prompt),
    schema: schemaOf(request["response_format"]),
    includeUsage: stream && options?.["include_usage"] === true,
    logprobs: request["logprobs"] === true,
    script: { ...named.script, ...prompt.script },
  };
}

function reply(head: Reply, asked: Asked, answer: Answer): string {
  const text = JSON.stringify(wholeText(answer));
  const spoken = answer.tool === null;
  const logprobs = asked.logprobs && spoken ? JSON.stringify(wholeLogprobs(answer)) : "null";
  const called = spoken
    ? ""
    : `,"tool_calls":[{"id":"${callId(head)}","type":"function",` +
      `"function":{"name":${JSON.stringify(answer.tool)},"arguments":${text}}}]`;
  const message = `{"role":"assistant","content":${spoken ? text : "null"},"refusal":null,"annotations":[]${called}}`;
  let choices = "";
  for (let index = 0; index < answer.choices; index += 1) {
    const comma = index === 0 ? "" : ",";
    choices += `${comma}{"index":${index},"message":${message},"logprobs":${logprobs},"finish_reason":"${answer.finish}"}`;
  }
  const usage = answer.usage === null ? "" : `"usage":${JSON.stringify(usageOf(answer.usage))},`;
  return (
    `{"id":"${head.id}","object":"chat.completion","created":${head.created},"model":${JSON.stringify(asked.model)},` +
    `"choices":[${choices}],${usage}"service_tier":"default","system_fingerprint":"${fingerprint}"}`
  );
}

/**
 * Role first, then the pieces, then the finish of each choice, then the usage chunk if it was asked for, then [DONE].
 * Both shapes are put together as text: at a hundred thousand events a second the serialiser would be the bench.
 */
function* events(head: Reply, asked: Asked, answer: Answer): Iterable<DialectEvent> {
  const opening =
    `{"id":"${head.id}","object":"chat.completion.chunk","created":${head.created},` +
    `"model":${JSON.stringify(asked.model)},"service_tier":"default","system_fingerprint":"${fingerprint}","choices":[`;
  const closing = asked.includeUsage && answer.usage !== null ? '],"usage":null}' : "]}";
  const chunk = (index: number, delta: string, logprobs: string, finish: string): string =>
    `${opening}{"index":${index},"delta":${delta},"logprobs":${logprobs},"finish_reason":${finish}}${closing}`;

  for (let index = 0; index < answer.choices; index += 1) {
    yield { data: chunk(index, firstDelta(answer, callId(head)), "null", "null"), tokens: 0 };
  }
  for (let at = 0; at < answer.count; at += 1) {
    const piece = answer.piece(at);
    const text = JSON.stringify(piece);
    const delta =
      answer.tool === null ? `{"content":${text}}` : `{"tool_calls":[{"index":0,"function":{"arguments":${text}}}]}`;
    const logprobs = asked.logprobs && answer.tool === null ? JSON.stringify(logprobsOf([piece])) : "null";
    for (let index = 0; index < answer.choices; index += 1) {
      yield { data: chunk(index, delta, logprobs, "null"), tokens: 1, role: "content" };
    }
  }
  for (let index = 0; index < answer.choices; index += 1) {
    yield { data: chunk(index, "{}", "null", `"${answer.finish}"`), tokens: 0 };
  }
  if (asked.includeUsage && answer.usage !== null) {
    yield { data: `${opening}],"usage":${JSON.stringify(usageOf(answer.usage))}}`, tokens: 0, role: "usage" };
  }
  yield { data: "[DONE]", tokens: 0, role: "terminal" };
}

const fingerprint = "fp_sluice_sim";

function callId(head: Reply): string {
  return `call_${head.id.slice(head.id.indexOf("-") + 1)}`;
}

function firstDelta(answer: Answer, id: string): string {
  if (answer.tool === null) return '{"role":"assistant","content":"","refusal":null}';
  const call = { index: 0, id, type: "function", function: { name: answer.tool, arguments: "" } };
  return JSON.stringify({ role: "assistant", content: null, tool_calls: [call], refusal: null });
}

function usageOf(usage: AnswerUsage): unknown {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.output,
    total_tokens: usage.prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function wholeLogprobs(answer: Answer): unknown {
  return logprobsOf(Array.from({ length: answer.count }, (_, index) => answer.piece(index)));
}

function logprobsOf(tokens: readonly string[]): unknown {
  const content = tokens.map((token) => ({ token, logprob: -0.125, bytes: [...Buffer.from(token)], top_logprobs: [] }));
  return { content, refusal: null };
}

function parse(body: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8"));
  } catch {
    throw new Refusal(400, "We could not parse the JSON body of your request.");
  }
  const record = asRecord(value);
  if (record === null) throw new Refusal(400, "The JSON body of your request is not an object.");
  return record;
}

function schemaOf(format: unknown): unknown {
  const asked = asRecord(format);
  if (asked?.["type"] === "json_object") return { type: "object", properties: { answer: { type: "string" } } };
  if (asked?.["type"] !== "json_schema") return null;
  return asRecord(asked["json_schema"])?.["schema"] ?? null;
}

function asRecord(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
}

function firstNumber(...values: readonly unknown[]): number | null {
  for (const value of values) if (typeof value === "number" && value >= 0) return value;
  return null;
}
