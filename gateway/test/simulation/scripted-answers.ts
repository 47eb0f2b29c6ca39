import type { WireDialectId } from "#core/index.ts";

/** The actual usage of an answer, in classes that do not overlap. */
export interface TrueUsage {
  readonly inputUncached: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly output: number;
  readonly webSearches: number;
}

/**
 * How an upstream reports usage. right: as documented. missing: not at all. malformed: in a shape without information.
 * half: the input is right, the output malformed. twice: the last report is repeated. early: zeros at the start, the
 * usage at the end. running: the usage so far with every event.
 */
export const usageReports = ["right", "missing", "malformed", "half", "twice", "early", "running"] as const;
export type UsageReport = (typeof usageReports)[number];

/** One answer: the number of tokens in each of its pieces, and its usage. */
export interface AnswerScript {
  readonly id: string;
  readonly pieces: readonly number[];
  readonly usage: TrueUsage;
  readonly usageReport: UsageReport;
  /** Replaces the usage where it is malformed. */
  readonly malformedUsage: string;
}

/** One event of a stream, and what its reader learns. */
export interface ScriptedEvent {
  readonly text: string;
  /** The number of output tokens in it. */
  readonly output: number;
  /** The number of web searches in it. */
  readonly searches?: number;
  /** It reports the correct input. */
  readonly reportsInput?: true;
  /** It reports the complete and correct usage. */
  readonly reportsUsage?: true;
  /** A stream that closes after it counts as complete, although not everything was sent. */
  readonly mayEnd?: true;
  /** The answer is complete with it. */
  readonly last?: true;
}

export interface AnswerWriter {
  whole(script: AnswerScript): string;
  events(script: AnswerScript): readonly ScriptedEvent[];
  /** An error in the middle of a stream. */
  readonly error: string;
}

const words = (tokens: number): string => "word".repeat(tokens);
const answerText = ({ pieces }: AnswerScript): string => pieces.map(words).join("");
const sumTo = (pieces: readonly number[], end: number): number =>
  pieces.slice(0, end).reduce((sum, tokens) => sum + tokens, 0);
const inputOf = ({ inputUncached, cacheRead, cacheWrite5m }: TrueUsage): number =>
  inputUncached + cacheRead + cacheWrite5m;
const data = (json: string): string => `data: ${json}\n\n`;
const named = (name: string, members: string): string => `event: ${name}\ndata: {"type":"${name}",${members}}\n\n`;

/** Whether the last report is correct. */
const isTrue = (usageReport: UsageReport): boolean =>
  usageReport !== "missing" && usageReport !== "malformed" && usageReport !== "half";

/** The usage in an answer with this many output tokens. null: it is missing. */
function usageJson(
  script: AnswerScript,
  write: (usage: TrueUsage, output: string) => string,
  output: number,
): string | null {
  if (script.usageReport === "missing") return null;
  if (script.usageReport === "malformed") return script.malformedUsage;
  return write(script.usage, script.usageReport === "half" ? '"many"' : String(output));
}

const chatUsage = (usage: TrueUsage, output: string): string =>
  `{"prompt_tokens":${inputOf(usage)},"completion_tokens":${output},"prompt_tokens_details":` +
  `{"cached_tokens":${usage.cacheRead},"cache_write_tokens":${usage.cacheWrite5m}}` +
  `${usage.webSearches > 1 ? `,"num_search_queries":${usage.webSearches}` : ""}}`;

const chat: AnswerWriter = {
  error: data('{"error":{"message":"broken","type":"server_error"}}'),
  whole(script) {
    const usage = usageJson(script, chatUsage, script.usage.output);
    return (
      `{"id":"${script.id}","object":"chat.completion","created":1,"model":"up","choices":[{"index":0,"message":` +
      `{"role":"assistant","content":"${answerText(script)}"},"finish_reason":"stop"}]${usage === null ? "" : `,"usage":${usage}`}}`
    );
  },
  events(script) {
    const { pieces, usageReport, usage } = script;
    const head = `"id":"${script.id}","object":"chat.completion.chunk","created":1,"model":"up"`;
    const chunk = (delta: string, finish: string, usageText: string | null): string =>
      data(
        `{${head},"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]${usageText === null ? "" : `,"usage":${usageText}`}}`,
      );
    const early = usageReport === "early" ? '{"prompt_tokens":0,"completion_tokens":0}' : null;
    const opening: ScriptedEvent = { text: chunk('{"role":"assistant","content":""}', "null", early), output: 0 };
    const content = pieces.map((tokens, index): ScriptedEvent => {
      const running = usageReport === "running" ? chatUsage(usage, String(sumTo(pieces, index + 1))) : null;
      const text = chunk(`{"content":"${words(tokens)}"}`, "null", running);
      return { text, output: tokens, ...(running === null ? {} : { reportsInput: true }) };
    });
    const finish: ScriptedEvent = { text: chunk("{}", '"stop"', null), output: 0, mayEnd: true };
    const usageText = usageJson(script, chatUsage, usage.output);
    const usages = usageText === null ? [] : usageReport === "twice" ? [usageText, usageText] : [usageText];
    const last = usages.map((one): ScriptedEvent => {
      const reported = isTrue(usageReport) ? { reportsInput: true as const, reportsUsage: true as const } : {};
      return { text: data(`{${head},"choices":[],"usage":${one}}`), output: 0, ...reported };
    });
    return [opening, ...content, finish, ...last, { text: data("[DONE]"), output: 0, last: true }];
  },
};

const messagesInput = (usage: TrueUsage): string =>
  `"input_tokens":${usage.inputUncached},"cache_read_input_tokens":${usage.cacheRead},` +
  `"cache_creation_input_tokens":${usage.cacheWrite5m}`;

const messagesUsage = (usage: TrueUsage, output: string): string =>
  `{${messagesInput(usage)},"output_tokens":${output}` +
  `${usage.webSearches > 0 ? `,"server_tool_use":{"web_search_requests":${usage.webSearches}}` : ""}}`;

const messages: AnswerWriter = {
  error: named("error", '"error":{"type":"overloaded_error","message":"broken"}'),
  whole(script) {
    const usage = usageJson(script, messagesUsage, script.usage.output);
    return (
      `{"id":"${script.id}","type":"message","role":"assistant","model":"up","content":[{"type":"text","text":"${answerText(script)}"}],` +
      `"stop_reason":"end_turn","stop_sequence":null${usage === null ? "" : `,"usage":${usage}`}}`
    );
  },
  events(script) {
    const { pieces, usageReport, usage } = script;
    const start =
      usageReport === "missing"
        ? null
        : usageReport === "malformed"
          ? script.malformedUsage
          : usageReport === "early"
            ? '{"input_tokens":0,"output_tokens":0}'
            : messagesUsage({ ...usage, webSearches: 0 }, "1");
    const reportsInput = isTrue(usageReport) && usageReport !== "early" ? { reportsInput: true as const } : {};
    const opening: ScriptedEvent[] = [
      {
        text: named(
          "message_start",
          `"message":{"id":"${script.id}","type":"message","role":"assistant","model":"up","content":[],` +
            `"stop_reason":null,"stop_sequence":null${start === null ? "" : `,"usage":${start}`}}`,
        ),
        output: 0,
        ...(usageReport === "half" ? { reportsInput: true } : reportsInput),
      },
      ...Array.from({ length: usage.webSearches }, (_, n): ScriptedEvent[] => [
        {
          text: named(
            "content_block_start",
            `"index":${n},"content_block":{"type":"server_tool_use","id":"srv_${n}","name":"web_search","input":{}}`,
          ),
          output: 0,
          searches: 1,
        },
        { text: named("content_block_stop", `"index":${n}`), output: 0 },
      ]).flat(),
      {
        text: named("content_block_start", `"index":${usage.webSearches},"content_block":{"type":"text","text":""}`),
        output: 0,
      },
    ];
    const content = pieces.map(
      (tokens): ScriptedEvent => ({
        text: named(
          "content_block_delta",
          `"index":${usage.webSearches},"delta":{"type":"text_delta","text":"${words(tokens)}"}`,
        ),
        output: tokens,
      }),
    );
    const usageText = usageJson(script, messagesUsage, usage.output);
    const delta = `"delta":{"stop_reason":"end_turn","stop_sequence":null}${usageText === null ? "" : `,"usage":${usageText}`}`;
    const reported = isTrue(usageReport) ? { reportsInput: true as const, reportsUsage: true as const } : {};
    const end: ScriptedEvent = { text: named("message_delta", delta), output: 0, ...reported };
    return [
      ...opening,
      ...content,
      { text: named("content_block_stop", `"index":${usage.webSearches}`), output: 0 },
      ...(usageReport === "twice" ? [end, end] : [end]),
      { text: 'event: message_stop\ndata: {"type":"message_stop"}\n\n', output: 0, last: true },
    ];
  },
};

const responsesUsage = (usage: TrueUsage, output: string): string =>
  `{"input_tokens":${inputOf(usage)},"output_tokens":${output},"input_tokens_details":` +
  `{"cached_tokens":${usage.cacheRead},"cache_write_tokens":${usage.cacheWrite5m}}}`;

const searchItem = (n: number): string =>
  `{"type":"web_search_call","id":"ws_${n}","status":"completed","action":{"type":"search","query":"x"}}`;

function responseOf(script: AnswerScript, status: "in_progress" | "completed"): string {
  const done = status === "completed";
  const searches = Array.from({ length: script.usage.webSearches }, (_, n) => searchItem(n));
  const message =
    `{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":` +
    `[{"type":"output_text","text":"${answerText(script)}","annotations":[]}]}`;
  const usage = done ? usageJson(script, responsesUsage, script.usage.output) : "null";
  return (
    `{"id":"${script.id}","object":"response","created_at":1,"status":"${status}","model":"up",` +
    `"output":[${done ? [...searches, message].join(",") : ""}]${usage === null ? "" : `,"usage":${usage}`}}`
  );
}

const responses: AnswerWriter = {
  error: named("error", '"code":"server_error","message":"broken","param":null'),
  whole: (script) => responseOf(script, "completed"),
  events(script) {
    const item = '"id":"msg_1","type":"message","role":"assistant"';
    const part = (text: string): string => `{"type":"output_text","text":"${text}","annotations":[]}`;
    const index = script.usage.webSearches;
    const at = `"item_id":"msg_1","output_index":${index},"content_index":0`;
    const plain = (text: string): ScriptedEvent => ({ text, output: 0 });
    const all = answerText(script);
    return [
      plain(named("response.created", `"response":${responseOf(script, "in_progress")}`)),
      ...Array.from(
        { length: index },
        (_, n): ScriptedEvent => ({
          text: named("response.output_item.done", `"output_index":${n},"item":${searchItem(n)}`),
          output: 0,
          searches: 1,
        }),
      ),
      plain(
        named(
          "response.output_item.added",
          `"output_index":${index},"item":{${item},"status":"in_progress","content":[]}`,
        ),
      ),
      plain(named("response.content_part.added", `${at},"part":${part("")}`)),
      ...script.pieces.map(
        (tokens): ScriptedEvent => ({
          text: named("response.output_text.delta", `${at},"delta":"${words(tokens)}"`),
          output: tokens,
        }),
      ),
      plain(named("response.output_text.done", `${at},"text":"${all}"`)),
      plain(named("response.content_part.done", `${at},"part":${part(all)}`)),
      plain(
        named(
          "response.output_item.done",
          `"output_index":${index},"item":{${item},"status":"completed","content":[${part(all)}]}`,
        ),
      ),
      {
        text: named("response.completed", `"response":${responseOf(script, "completed")}`),
        output: 0,
        last: true,
        ...(isTrue(script.usageReport) ? { reportsInput: true, reportsUsage: true } : {}),
      },
    ];
  },
};

/** A count of zero may be left out, so Gemini never reports half of the usage. */
const geminiUsage = (usage: TrueUsage, output: string): string =>
  `{"promptTokenCount":${inputOf(usage)},"cachedContentTokenCount":${usage.cacheRead},"candidatesTokenCount":${output},` +
  `"totalTokenCount":${inputOf(usage)}}`;

const gemini: AnswerWriter = {
  error: data('{"error":{"code":503,"message":"broken","status":"UNAVAILABLE"}}'),
  whole: (script) => generated(script, answerText(script), true, usageJson(script, geminiUsage, script.usage.output)),
  events(script) {
    const { pieces, usageReport, usage } = script;
    const ends = usageReport === "twice" ? 2 : 1;
    return pieces.map((tokens, index): ScriptedEvent => {
      const final = index === pieces.length - 1;
      const running = usageReport === "running" || (usageReport === "twice" && index >= pieces.length - ends);
      const sofar = String(sumTo(pieces, index + 1));
      const usageText = final
        ? usageJson(script, geminiUsage, usage.output)
        : running
          ? geminiUsage(usage, sofar)
          : usageReport === "early"
            ? '{"promptTokenCount":0,"totalTokenCount":0}'
            : null;
      const reported = isTrue(usageReport) && (final || running) ? { reportsInput: true as const } : {};
      return {
        text: data(generated(script, words(tokens), final, usageText)),
        output: tokens,
        ...reported,
        ...(final ? { last: true } : {}),
        ...(final && isTrue(usageReport) ? { reportsUsage: true } : {}),
        ...(final ? { searches: usage.webSearches } : {}),
      };
    });
  },
};

function generated(script: AnswerScript, text: string, final: boolean, usageText: string | null): string {
  const queries = Array.from({ length: script.usage.webSearches }, (_, n) => `"query ${n}"`).join(",");
  const grounded = final && queries !== "" ? `,"groundingMetadata":{"webSearchQueries":[${queries}]}` : "";
  return (
    `{"candidates":[{"content":{"role":"model","parts":[{"text":"${text}"}]},"index":0` +
    `${final ? ',"finishReason":"STOP"' : ""}${grounded}}]` +
    `${usageText === null ? "" : `,"usageMetadata":${usageText}`},"modelVersion":"up","responseId":"${script.id}"}`
  );
}

export type UpstreamDialect = Extract<
  WireDialectId,
  "openai-chat" | "anthropic-messages" | "openai-responses" | "gemini"
>;

export const answerWriters: Readonly<Record<UpstreamDialect, AnswerWriter>> = {
  "openai-chat": chat,
  "anthropic-messages": messages,
  "openai-responses": responses,
  gemini,
};
