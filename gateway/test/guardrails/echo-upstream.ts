/** An upstream that speaks every dialect and answers with a chosen text, whole or in pieces. */
export interface EchoUpstream {
  readonly url: string;
  /** Bodies of the requests, as text. */
  readonly requests: string[];
  /** Pieces of the next answers. Default: the whole body of the request. */
  pieces: ((body: string) => readonly string[]) | null;
  /** Answers instead of the echo. */
  respond: (() => Response) | null;
  stop(): void;
}

type Shape = (pieces: readonly string[]) => { readonly whole: object; readonly events: readonly object[] };

const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };

const chat: Shape = (pieces) => ({
  whole: {
    ...{ id: "c1", object: "chat.completion", created: 1, model: "m", usage },
    choices: [{ index: 0, message: { role: "assistant", content: pieces.join("") }, finish_reason: "stop" }],
  },
  events: [
    ...pieces.map((content) => ({ id: "c1", choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
    { id: "c1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage },
  ],
});

const messages: Shape = (pieces) => ({
  whole: {
    ...{ id: "m1", type: "message", role: "assistant", model: "m", stop_reason: "end_turn", stop_sequence: null },
    content: [{ type: "text", text: pieces.join("") }],
    usage: { input_tokens: 5, output_tokens: 5 },
  },
  events: [
    {
      type: "message_start",
      message: {
        ...{ id: "m1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null },
        usage: { input_tokens: 5, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...pieces.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ],
});

let responseCount = 0;

const responses: Shape = (pieces) => {
  const text = pieces.join("");
  const output = [
    {
      ...{ type: "message", id: "msg_1", role: "assistant", status: "completed" },
      content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
    },
  ];
  const response = {
    ...{ id: `resp_${++responseCount}`, object: "response", created_at: 1, status: "completed", model: "m", output },
    usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 },
  };
  const at = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const events = [
    { type: "response.created", response: { ...response, output: [], status: "in_progress", usage: null } },
    { type: "response.output_item.added", output_index: 0, item: { ...output[0], content: [] } },
    ...pieces.map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    { type: "response.output_text.done", ...at, text, logprobs: [] },
    { type: "response.output_item.done", output_index: 0, item: output[0] },
    { type: "response.completed", response },
  ];
  return { whole: response, events: events.map((event, sequence_number) => ({ ...event, sequence_number })) };
};

const gemini: Shape = (pieces) => {
  const part = (text: string, finishReason?: string) => ({
    candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, ...(finishReason && { finishReason }) }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 5, totalTokenCount: 10 },
    modelVersion: "m",
  });
  return {
    whole: part(pieces.join(""), "STOP"),
    events: pieces.map((text, index) => part(text, index === pieces.length - 1 ? "STOP" : undefined)),
  };
};

const interactions: Shape = (pieces) => {
  const interaction = { id: "v1_1", object: "interaction", status: "completed", model: "m" };
  return {
    whole: { ...interaction, steps: [{ type: "model_output", content: [{ type: "text", text: pieces.join("") }] }] },
    events: [
      { event_type: "interaction.created", interaction: { ...interaction, status: "in_progress" } },
      { event_type: "step.start", index: 0, step: { type: "model_output" } },
      ...pieces.map((text) => ({ event_type: "step.delta", index: 0, delta: { type: "text", text } })),
      { event_type: "step.stop", index: 0 },
      { event_type: "interaction.completed", interaction },
    ],
  };
};

export function shapeOf(path: string): Shape {
  if (path.endsWith("/interactions")) return interactions;
  if (path.endsWith("/messages")) return messages;
  if (path.includes("/responses")) return responses;
  return path.includes("enerateContent") ? gemini : chat;
}

export function eventStream(events: readonly object[], end = ""): Response {
  return new Response(events.map(eventText).join("") + end, { headers: { "content-type": "text/event-stream" } });
}

export function eventText(event: object): string {
  const type = Reflect.get(event, "type") as string | undefined;
  return `${type === undefined ? "" : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`;
}

export function startEchoUpstream(): EchoUpstream {
  const requests: string[] = [];
  const server = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = await request.text();
      requests.push(body);
      if (upstream.respond !== null) return upstream.respond();
      const { pathname } = new URL(request.url);
      const { whole, events } = shapeOf(pathname)(upstream.pieces?.(body) ?? [body]);
      const isStream = pathname.includes("streamGenerateContent") || /"stream"\s*:\s*true/.test(body);
      if (!isStream) return Response.json(whole);
      const done = pathname.endsWith("/chat/completions") ? "data: [DONE]\n\n" : "";
      return eventStream(events, done);
    },
  });
  const upstream: EchoUpstream = {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    pieces: null,
    respond: null,
    stop: () => void server.stop(true),
  };
  return upstream;
}
