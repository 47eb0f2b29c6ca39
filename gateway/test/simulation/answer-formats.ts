/** How a simulated upstream writes its answers in one dialect. */
export interface AnswerFormat {
  reply(id: string, tokens: number): string;
  /** An answer that is not finished. */
  unfinished(id: string): string;
  opening(id: string): readonly string[];
  /** An event with one token of the answer. */
  readonly content: string;
  /** The events after the last token, including the usage. */
  closing(id: string, tokens: number): string;
}

const inputTokens = 10;

const chatUsage = (tokens: number): string => `{"prompt_tokens":${inputTokens},"completion_tokens":${tokens}}`;

export const chatFormat: AnswerFormat = {
  reply: (_id, tokens) =>
    `{"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":${chatUsage(tokens)}}`,
  unfinished: () => "{}",
  opening: () => [],
  content: 'data: {"choices":[{"index":0,"delta":{"content":"word"},"finish_reason":null}]}\n\n',
  closing: (_id, tokens) =>
    `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: {"choices":[],"usage":${chatUsage(tokens)}}\n\ndata: [DONE]\n\n`,
};

const responseOf = (id: string, status: string, usage: string): string =>
  `{"id":"${id}","object":"response","status":"${status}","output":[],"usage":${usage}}`;

const responsesUsage = (tokens: number): string =>
  `{"input_tokens":${inputTokens},"output_tokens":${tokens},"total_tokens":${inputTokens + tokens}}`;

const event = (type: string, members: string): string => `event: ${type}\ndata: {"type":"${type}",${members}}\n\n`;

export const responsesFormat: AnswerFormat = {
  reply: (id, tokens) => responseOf(id, "completed", responsesUsage(tokens)),
  unfinished: (id) => responseOf(id, "in_progress", "null"),
  opening: (id) => [event("response.created", `"response":${responseOf(id, "in_progress", "null")}`)],
  content: event("response.output_text.delta", '"delta":"word"'),
  closing: (id, tokens) =>
    event("response.completed", `"response":${responseOf(id, "completed", responsesUsage(tokens))}`),
};

const interactionOf = (id: string, status: string, members = ""): string =>
  `{"id":"${id}","object":"interaction","model":"m","status":"${status}"${members}}`;

const interactionUsage = (tokens: number): string =>
  `"usage":{"total_input_tokens":${inputTokens},"total_output_tokens":${tokens},"total_tokens":${inputTokens + tokens}}`;

const interactionEvent = (type: string, members: string): string =>
  `event: ${type}\ndata: {"event_type":"${type}",${members}}\n\n`;

export const interactionsFormat: AnswerFormat = {
  reply: (id, tokens) =>
    interactionOf(
      id,
      "completed",
      `,"steps":[{"type":"model_output","content":[{"type":"text","text":"x"}]}],${interactionUsage(tokens)}`,
    ),
  unfinished: (id) => interactionOf(id, "in_progress"),
  opening: (id) => [
    interactionEvent("interaction.created", `"interaction":${interactionOf(id, "in_progress")}`),
    interactionEvent("step.start", '"index":0,"step":{"type":"model_output"}'),
  ],
  content: interactionEvent("step.delta", '"index":0,"delta":{"type":"text","text":"word"}'),
  closing: (id, tokens) =>
    interactionEvent("step.stop", '"index":0') +
    interactionEvent(
      "interaction.completed",
      `"interaction":${interactionOf(id, "completed", `,${interactionUsage(tokens)}`)}`,
    ) +
    "data: [DONE]\n\n",
};
