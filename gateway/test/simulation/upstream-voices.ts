import type { WireDialectId } from "#core/index.ts";

/** What an answer really used, in classes that do not overlap. */
export interface TrueUsage {
  readonly inputUncached: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly output: number;
  readonly webSearches: number;
}

/**
 * How an upstream tells what an answer used.
 * right     as its documentation says
 * missing   not at all
 * malformed in a shape that says nothing
 * half      the input well, the output in a shape that says nothing
 * twice     the last word is said two times
 * early     zeros at the start, the truth at the end
 * running   what was used so far with every event
 */
export const tellings = ["right", "missing", "malformed", "half", "twice", "early", "running"] as const;
export type Telling = (typeof tellings)[number];

/** One answer on its way: how many tokens each piece of it holds. */
export interface Saying {
  readonly id: string;
  readonly pieces: readonly number[];
  readonly usage: TrueUsage;
  readonly telling: Telling;
  /** Stands in for the usage where it is malformed. */
  readonly nonsense: string;
}

/** One event of a stream, and what whoever has read it knows. */
export interface SaidEvent {
  readonly text: string;
  /** Tokens of output that are in it. */
  readonly output: number;
  /** Searches of the web that it shows. */
  readonly searches?: number;
  /** It tells the input as it is. */
  readonly tellsInput?: true;
  /** It tells all that was used, truly. */
  readonly tellsAll?: true;
  /** A stream that is closed behind it has come to a good end, though not all was told. */
  readonly mayEnd?: true;
  /** With it the answer is whole. */
  readonly last?: true;
}

export interface Voice {
  whole(saying: Saying): string;
  events(saying: Saying): readonly SaidEvent[];
  /** An error in the middle of a stream. */
  readonly error: string;
}

const words = (tokens: number): string => "word".repeat(tokens);
const said = ({ pieces }: Saying): string => pieces.map(words).join("");
const sumTo = (pieces: readonly number[], end: number): number =>
  pieces.slice(0, end).reduce((sum, tokens) => sum + tokens, 0);
const inputOf = ({ inputUncached, cacheRead, cacheWrite5m }: TrueUsage): number =>
  inputUncached + cacheRead + cacheWrite5m;
const data = (json: string): string => `data: ${json}\n\n`;
const named = (name: string, members: string): string => `event: ${name}\ndata: {"type":"${name}",${members}}\n\n`;

/** Whether the last word of this telling is the truth. */
const isTrue = (telling: Telling): boolean => telling !== "missing" && telling !== "malformed" && telling !== "half";

/** The usage as it stands in an answer, with so many tokens of output; null: it is not there. */
function toldAs(saying: Saying, write: (usage: TrueUsage, output: string) => string, output: number): string | null {
  if (saying.telling === "missing") return null;
  if (saying.telling === "malformed") return saying.nonsense;
  return write(saying.usage, saying.telling === "half" ? '"many"' : String(output));
}

const chatUsage = (usage: TrueUsage, output: string): string =>
  `{"prompt_tokens":${inputOf(usage)},"completion_tokens":${output},"prompt_tokens_details":` +
  `{"cached_tokens":${usage.cacheRead},"cache_write_tokens":${usage.cacheWrite5m}}` +
  `${usage.webSearches > 1 ? `,"num_search_queries":${usage.webSearches}` : ""}}`;

const chat: Voice = {
  error: data('{"error":{"message":"broken","type":"server_error"}}'),
  whole(saying) {
    const usage = toldAs(saying, chatUsage, saying.usage.output);
    return (
      `{"id":"${saying.id}","object":"chat.completion","created":1,"model":"up","choices":[{"index":0,"message":` +
      `{"role":"assistant","content":"${said(saying)}"},"finish_reason":"stop"}]${usage === null ? "" : `,"usage":${usage}`}}`
    );
  },
  events(saying) {
    const { pieces, telling, usage } = saying;
    const head = `"id":"${saying.id}","object":"chat.completion.chunk","created":1,"model":"up"`;
    const chunk = (delta: string, finish: string, told: string | null): string =>
      data(
        `{${head},"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]${told === null ? "" : `,"usage":${told}`}}`,
      );
    const early = telling === "early" ? '{"prompt_tokens":0,"completion_tokens":0}' : null;
    const opening: SaidEvent = { text: chunk('{"role":"assistant","content":""}', "null", early), output: 0 };
    const content = pieces.map((tokens, index): SaidEvent => {
      const running = telling === "running" ? chatUsage(usage, String(sumTo(pieces, index + 1))) : null;
      const text = chunk(`{"content":"${words(tokens)}"}`, "null", running);
      return { text, output: tokens, ...(running === null ? {} : { tellsInput: true }) };
    });
    const finish: SaidEvent = { text: chunk("{}", '"stop"', null), output: 0, mayEnd: true };
    const told = toldAs(saying, chatUsage, usage.output);
    const usages = told === null ? [] : telling === "twice" ? [told, told] : [told];
    const last = usages.map((one): SaidEvent => {
      const knows = isTrue(telling) ? { tellsInput: true as const, tellsAll: true as const } : {};
      return { text: data(`{${head},"choices":[],"usage":${one}}`), output: 0, ...knows };
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

const messages: Voice = {
  error: named("error", '"error":{"type":"overloaded_error","message":"broken"}'),
  whole(saying) {
    const usage = toldAs(saying, messagesUsage, saying.usage.output);
    return (
      `{"id":"${saying.id}","type":"message","role":"assistant","model":"up","content":[{"type":"text","text":"${said(saying)}"}],` +
      `"stop_reason":"end_turn","stop_sequence":null${usage === null ? "" : `,"usage":${usage}`}}`
    );
  },
  events(saying) {
    const { pieces, telling, usage } = saying;
    const start =
      telling === "missing"
        ? null
        : telling === "malformed"
          ? saying.nonsense
          : telling === "early"
            ? '{"input_tokens":0,"output_tokens":0}'
            : messagesUsage({ ...usage, webSearches: 0 }, "1");
    const tellsInput = isTrue(telling) && telling !== "early" ? { tellsInput: true as const } : {};
    const opening: SaidEvent[] = [
      {
        text: named(
          "message_start",
          `"message":{"id":"${saying.id}","type":"message","role":"assistant","model":"up","content":[],` +
            `"stop_reason":null,"stop_sequence":null${start === null ? "" : `,"usage":${start}`}}`,
        ),
        output: 0,
        ...(telling === "half" ? { tellsInput: true } : tellsInput),
      },
      ...Array.from({ length: usage.webSearches }, (_, n): SaidEvent[] => [
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
      (tokens): SaidEvent => ({
        text: named(
          "content_block_delta",
          `"index":${usage.webSearches},"delta":{"type":"text_delta","text":"${words(tokens)}"}`,
        ),
        output: tokens,
      }),
    );
    const told = toldAs(saying, messagesUsage, usage.output);
    const delta = `"delta":{"stop_reason":"end_turn","stop_sequence":null}${told === null ? "" : `,"usage":${told}`}`;
    const knows = isTrue(telling) ? { tellsInput: true as const, tellsAll: true as const } : {};
    const end: SaidEvent = { text: named("message_delta", delta), output: 0, ...knows };
    return [
      ...opening,
      ...content,
      { text: named("content_block_stop", `"index":${usage.webSearches}`), output: 0 },
      ...(telling === "twice" ? [end, end] : [end]),
      { text: 'event: message_stop\ndata: {"type":"message_stop"}\n\n', output: 0, last: true },
    ];
  },
};

const responsesUsage = (usage: TrueUsage, output: string): string =>
  `{"input_tokens":${inputOf(usage)},"output_tokens":${output},"input_tokens_details":` +
  `{"cached_tokens":${usage.cacheRead},"cache_write_tokens":${usage.cacheWrite5m}}}`;

const searchItem = (n: number): string =>
  `{"type":"web_search_call","id":"ws_${n}","status":"completed","action":{"type":"search","query":"x"}}`;

function responseOf(saying: Saying, status: "in_progress" | "completed"): string {
  const done = status === "completed";
  const searches = Array.from({ length: saying.usage.webSearches }, (_, n) => searchItem(n));
  const message =
    `{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":` +
    `[{"type":"output_text","text":"${said(saying)}","annotations":[]}]}`;
  const usage = done ? toldAs(saying, responsesUsage, saying.usage.output) : "null";
  return (
    `{"id":"${saying.id}","object":"response","created_at":1,"status":"${status}","model":"up",` +
    `"output":[${done ? [...searches, message].join(",") : ""}]${usage === null ? "" : `,"usage":${usage}`}}`
  );
}

const responses: Voice = {
  error: named("error", '"code":"server_error","message":"broken","param":null'),
  whole: (saying) => responseOf(saying, "completed"),
  events(saying) {
    const item = '"id":"msg_1","type":"message","role":"assistant"';
    const part = (text: string): string => `{"type":"output_text","text":"${text}","annotations":[]}`;
    const index = saying.usage.webSearches;
    const at = `"item_id":"msg_1","output_index":${index},"content_index":0`;
    const plain = (text: string): SaidEvent => ({ text, output: 0 });
    const all = said(saying);
    return [
      plain(named("response.created", `"response":${responseOf(saying, "in_progress")}`)),
      ...Array.from(
        { length: index },
        (_, n): SaidEvent => ({
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
      ...saying.pieces.map(
        (tokens): SaidEvent => ({
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
        text: named("response.completed", `"response":${responseOf(saying, "completed")}`),
        output: 0,
        last: true,
        ...(isTrue(saying.telling) ? { tellsInput: true, tellsAll: true } : {}),
      },
    ];
  },
};

/** A count that is zero may be left out, so nothing of it is ever half told. */
const geminiUsage = (usage: TrueUsage, output: string): string =>
  `{"promptTokenCount":${inputOf(usage)},"cachedContentTokenCount":${usage.cacheRead},"candidatesTokenCount":${output},` +
  `"totalTokenCount":${inputOf(usage)}}`;

const gemini: Voice = {
  error: data('{"error":{"code":503,"message":"broken","status":"UNAVAILABLE"}}'),
  whole: (saying) => generated(saying, said(saying), true, toldAs(saying, geminiUsage, saying.usage.output)),
  events(saying) {
    const { pieces, telling, usage } = saying;
    const ends = telling === "twice" ? 2 : 1;
    return pieces.map((tokens, index): SaidEvent => {
      const final = index === pieces.length - 1;
      const running = telling === "running" || (telling === "twice" && index >= pieces.length - ends);
      const sofar = String(sumTo(pieces, index + 1));
      const told = final
        ? toldAs(saying, geminiUsage, usage.output)
        : running
          ? geminiUsage(usage, sofar)
          : telling === "early"
            ? '{"promptTokenCount":0,"totalTokenCount":0}'
            : null;
      const knows = isTrue(telling) && (final || running) ? { tellsInput: true as const } : {};
      return {
        text: data(generated(saying, words(tokens), final, told)),
        output: tokens,
        ...knows,
        ...(final ? { last: true } : {}),
        ...(final && isTrue(telling) ? { tellsAll: true } : {}),
        ...(final ? { searches: usage.webSearches } : {}),
      };
    });
  },
};

function generated(saying: Saying, text: string, final: boolean, told: string | null): string {
  const queries = Array.from({ length: saying.usage.webSearches }, (_, n) => `"query ${n}"`).join(",");
  const grounded = final && queries !== "" ? `,"groundingMetadata":{"webSearchQueries":[${queries}]}` : "";
  return (
    `{"candidates":[{"content":{"role":"model","parts":[{"text":"${text}"}]},"index":0` +
    `${final ? ',"finishReason":"STOP"' : ""}${grounded}}]` +
    `${told === null ? "" : `,"usageMetadata":${told}`},"modelVersion":"up","responseId":"${saying.id}"}`
  );
}

export type SpokenDialect = Extract<
  WireDialectId,
  "openai-chat" | "anthropic-messages" | "openai-responses" | "gemini"
>;

export const voices: Readonly<Record<SpokenDialect, Voice>> = {
  "openai-chat": chat,
  "anthropic-messages": messages,
  "openai-responses": responses,
  gemini,
};
