import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AnsweringGateway, paths, startAnsweringGateway } from "./answering-gateway.ts";

let gateway: AnsweringGateway;
beforeAll(async () => {
  gateway = await startAnsweringGateway();
});
afterAll(() => gateway.stop());

/** With an accent and a surrogate pair, for dialects that count in bytes. */
const text = "Café 😀 Paris is big.";
const words = "Paris is big";
const at = text.indexOf(words);
const url = "https://example.com/paris";
const title = "On Paris";

const url_citation = { url, title, start_index: at, end_index: at + words.length };
const usage = { input_tokens: 10, output_tokens: 5 };
const cited = { type: "web_search_result_location", url, title, cited_text: "a quote", encrypted_index: "Eo8=" };
const message = { id: "msg_1", type: "message", role: "assistant", model: "up", usage };
const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "up",
  choices: [{ index: 0, delta, finish_reason }],
});
const part = { type: "output_text", text, annotations: [{ type: "url_citation", ...url_citation }] };
const item = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [part] };
const response = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "up",
  status: "completed",
  output: [item],
  usage,
};
const bytesAt = Buffer.byteLength(text.slice(0, at));
const groundingMetadata = {
  groundingChunks: [{ web: { uri: url, title } }],
  groundingSupports: [
    { segment: { startIndex: bytesAt, endIndex: bytesAt + Buffer.byteLength(words) }, groundingChunkIndices: [0] },
  ],
};

/** The answer of each upstream, streamed and not. In Messages, a citation covers the whole block. */
const upstreams = {
  "of-chat": {
    whole: {
      ...chunk({}),
      object: "chat.completion",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: text, annotations: [{ type: "url_citation", url_citation }] },
          finish_reason: "stop",
        },
      ],
    },
    events: [
      chunk({ role: "assistant", content: "" }),
      chunk({ content: text }),
      chunk({ annotations: [{ type: "url_citation", url_citation }] }),
      chunk({}, "stop"),
    ],
    words,
  },
  "of-responses": {
    whole: response,
    events: [
      { type: "response.created", response: { ...response, output: [], status: "in_progress" } },
      { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
      { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: text },
      {
        type: "response.output_text.annotation.added",
        item_id: "msg_1",
        output_index: 0,
        content_index: 0,
        annotation_index: 0,
        annotation: part.annotations[0],
      },
      { type: "response.content_part.done", item_id: "msg_1", output_index: 0, content_index: 0, part },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response },
    ],
    words,
  },
  "of-messages": {
    whole: { ...message, content: [{ type: "text", text, citations: [cited] }], stop_reason: "end_turn" },
    events: [
      { type: "message_start", message: { ...message, content: [], stop_reason: null } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "", citations: [] } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
      { type: "content_block_delta", index: 0, delta: { type: "citations_delta", citation: cited } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
      { type: "message_stop" },
    ],
    words: text,
  },
  "of-gemini": {
    whole: { candidates: [{ content: { parts: [{ text }] }, groundingMetadata, finishReason: "STOP" }] },
    events: [
      { candidates: [{ content: { parts: [{ text: text.slice(0, 9) }] } }] },
      { candidates: [{ content: { parts: [{ text: text.slice(9) }] } }] },
      { candidates: [{ content: { parts: [{ text: "" }] }, groundingMetadata, finishReason: "STOP" }] },
    ],
    words,
  },
} as const;
type ModelName = keyof typeof upstreams;

interface Citation {
  readonly url: string;
  readonly title: string;
  /** null: the dialect does not mark the cited words. */
  readonly words: string | null;
}

interface Message {
  readonly content?: string | null;
  readonly annotations?: readonly { readonly url_citation: typeof url_citation }[];
}
interface Completion {
  readonly choices: readonly { readonly message?: Message; readonly delta?: Message }[];
}
interface MessageEvent {
  readonly delta?: { readonly type?: string; readonly citation?: object };
}

/** How clients of each dialect read the citations in an answer. */
const callers = {
  "of-chat": {
    path: paths.chat,
    body: { messages: [{ role: "user", content: "x" }] },
    whole: (answer: object): Citation[] => readChat((answer as Completion).choices[0]?.message ?? {}),
    stream: (events: readonly object[]): Citation[] => {
      const deltas = events.flatMap((event) => (event as Completion).choices[0]?.delta ?? []);
      const content = deltas.map((delta) => delta.content ?? "").join("");
      return readChat({ content, annotations: deltas.flatMap((delta) => delta.annotations ?? []) });
    },
  },
  "of-responses": {
    path: paths.responses,
    body: { input: "x" },
    whole: (answer: object): Citation[] => readResponse(answer),
    stream: (events: readonly object[]): Citation[] => {
      const typed = events as readonly { readonly type: string; readonly response?: object }[];
      const added = typed.filter(({ type }) => type === "response.output_text.annotation.added");
      const read = readResponse(typed.at(-1)?.response ?? {});
      expect(added).toHaveLength(read.length);
      return read;
    },
  },
  "of-messages": {
    path: paths.messages,
    body: { max_tokens: 64, messages: [{ role: "user", content: "x" }] },
    whole: (answer: object): Citation[] =>
      (answer as { content: { citations?: object[] }[] }).content.flatMap((block) =>
        (block.citations ?? []).map(readWebCitation),
      ),
    stream: (events: readonly object[]): Citation[] =>
      events.flatMap((event) => {
        const { type, citation } = (event as MessageEvent).delta ?? {};
        return type === "citations_delta" && citation !== undefined ? [readWebCitation(citation)] : [];
      }),
  },
  "of-gemini": {
    path: "",
    body: { contents: [{ role: "user", parts: [{ text: "x" }] }] },
    whole: (answer: object): Citation[] => readCandidates([answer]),
    stream: (events: readonly object[]): Citation[] => readCandidates(events),
  },
} as const;

function readChat({ content, annotations = [] }: Message): Citation[] {
  return annotations.map(({ url_citation: { url, title, start_index, end_index } }) => ({
    url,
    title,
    words: (content ?? "").slice(start_index, end_index),
  }));
}

function readResponse(answer: object): Citation[] {
  const { output } = answer as typeof response;
  return output.flatMap(({ content }) =>
    content.flatMap(({ text, annotations }) =>
      annotations.map(({ url, title, start_index, end_index }) => ({
        url,
        title,
        words: text.slice(start_index, end_index),
      })),
    ),
  );
}

function readWebCitation(citation: object): Citation {
  const { type, url, title, encrypted_index } = citation as typeof cited;
  expect([type, typeof encrypted_index]).toEqual(["web_search_result_location", "string"]);
  return { url, title, words: null };
}

function readCandidates(answers: readonly object[]): Citation[] {
  const all = answers.flatMap((answer) => (answer as { candidates: Candidate[] }).candidates);
  const bytes = Buffer.from(all.flatMap(({ content }) => content.parts.map((one) => one.text)).join(""));
  return all.flatMap(({ groundingMetadata: grounding }) =>
    (grounding?.groundingSupports ?? []).flatMap(({ segment, groundingChunkIndices }) =>
      groundingChunkIndices.map((index) => {
        const { uri, title } = grounding?.groundingChunks[index]?.web ?? { uri: "", title: "" };
        return { url: uri, title, words: bytes.toString("utf8", segment.startIndex, segment.endIndex) };
      }),
    ),
  );
}

interface Candidate {
  readonly content: { readonly parts: readonly { readonly text: string }[] };
  readonly groundingMetadata?: typeof groundingMetadata;
}

const names = Object.keys(upstreams) as ModelName[];

describe.each(names.flatMap((from) => names.filter((to) => to !== from).map((to) => [from, to] as const)))(
  "a citation from an upstream %s for a caller %s",
  (from, to) => {
    const { body, whole, stream } = callers[to];
    const pathFor = (streams: boolean): string =>
      callers[to].path || `/v1beta/models/${from}:${streams ? "streamGenerateContent?alt=sse" : "generateContent"}`;
    const expected = [{ url, title, words: to === "of-messages" ? null : upstreams[from].words }];

    test("in a complete answer", async () => {
      const answer = await gateway.call(pathFor(false), { model: from, ...body }, upstreams[from].whole);
      expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
      expect(whole((await answer.json()) as object)).toEqual(expected);
    });

    test("in a stream", async () => {
      const request = to === "of-gemini" ? body : { model: from, stream: true, ...body };
      const answer = await gateway.call(pathFor(true), request, upstreams[from].events);
      const text = await answer.text();
      expect([answer.status, answer.headers.get("x-sluice-warnings"), text.includes("sluice-warning")]).toEqual([
        200,
        null,
        false,
      ]);
      const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? ""));
      expect(stream(events)).toEqual(expected);
    });
  },
);

test("warns about a citation of a document, which the other dialect cannot express", async () => {
  const document = {
    type: "page_location",
    cited_text: "x",
    document_index: 0,
    document_title: "A",
    start_page_number: 1,
    end_page_number: 2,
    file_id: null,
  };
  const answer = await gateway.call(
    paths.chat,
    { model: "of-messages", messages: [{ role: "user", content: "x" }] },
    { ...message, content: [{ type: "text", text, citations: [document] }], stop_reason: "end_turn" },
  );
  expect(answer.headers.get("x-sluice-warnings")).toContain("citations of documents");
  await answer.text();
});

test("removes another vendor's citations when the conversation continues at Anthropic", async () => {
  const request = { model: "of-chat", max_tokens: 64, messages: [{ role: "user", content: "x" }] };
  const first = await gateway.call(paths.messages, request, upstreams["of-chat"].whole);
  const { content } = (await first.json()) as { content: { text: string; citations: object[] }[] };
  expect(content[0]?.citations).toHaveLength(1);
  const messages = [...request.messages, { role: "assistant", content }, { role: "user", content: "y" }];
  const own = { ...message, content: [{ type: "text", text: "z" }], stop_reason: "end_turn" };
  const next = await gateway.call(paths.messages, { ...request, model: "of-messages", messages }, own);
  expect(next.status).toBe(200);
  await next.text();
  const sent = gateway.sent() as { messages: { content: { type: string; citations?: object[] }[] }[] };
  expect(sent.messages[1]?.content).toEqual([{ type: "text", text, citations: [] }] as never);
});
