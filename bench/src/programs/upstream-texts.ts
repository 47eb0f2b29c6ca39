import { benchModel, messagesModel } from "../call-request.ts";

/** Parts of the bench upstream's stream in one dialect. */
export interface StreamTexts {
  /** Events up to and including the first word. */
  begin(word: string): string;
  /** One event with a word. */
  piece(word: string): string;
  /** The last events. `usage`: with usage, if it was requested. */
  end(usage: boolean): string;
}

export const chatTexts: StreamTexts = {
  begin: (word) => chatEvent(`{"role":"assistant","content":"${word}"}`),
  piece: (word) => chatEvent(`{"content":" word${word}"}`),
  end: (usage) => `${chatEvent("{}", `"stop"`)}${usage ? `data: ${chatUsage}\n\n` : ""}data: [DONE]\n\n`,
};

function chatEvent(delta: string, finish = "null"): string {
  return (
    `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1760000000,"model":"${benchModel}",` +
    `"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]}\n\n`
  );
}

const chatUsage =
  `{"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1760000000,"model":"${benchModel}","choices":[],` +
  `"usage":{"prompt_tokens":180,"completion_tokens":120,"total_tokens":300}}`;

export const messagesTexts: StreamTexts = {
  begin: (word) =>
    messagesEvent(
      "message_start",
      `"message":{"id":"msg_bench","type":"message","role":"assistant","model":"${messagesModel}","content":[],` +
        `"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":180,"cache_creation_input_tokens":0,` +
        `"cache_read_input_tokens":0,"output_tokens":1}}`,
    ) +
    messagesEvent("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`) +
    wordDelta(word),
  piece: (word) => wordDelta(` word${word}`),
  end: () =>
    messagesEvent("content_block_stop", `"index":0`) +
    messagesEvent(
      "message_delta",
      `"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":120}`,
    ) +
    messagesEvent("message_stop"),
};

function wordDelta(text: string): string {
  return messagesEvent("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"${text}"}`);
}

function messagesEvent(type: string, members = ""): string {
  return `event: ${type}\ndata: {"type":"${type}"${members === "" ? "" : `,${members}`}}\n\n`;
}

/** A complete response of 1 KB. */
export function chatReply(): string {
  const make = (text: string) =>
    `{"id":"chatcmpl-bench","object":"chat.completion","created":1760000000,"model":"${benchModel}","choices":[{"index":0,` +
    `"message":{"role":"assistant","content":"${text}","refusal":null},"logprobs":null,"finish_reason":"stop"}],` +
    `"usage":{"prompt_tokens":180,"completion_tokens":120,"total_tokens":300,"prompt_tokens_details":{"cached_tokens":0}}}`;
  return make("word ".repeat(300).slice(0, 1024 - make("").length));
}

/** One very small image, because only the requests should be large. */
export function imagesReply(): string {
  return (
    `{"created":1760000000,"data":[{"b64_json":"${"A".repeat(1024)}"}],"usage":{"input_tokens":1100,` +
    `"input_tokens_details":{"text_tokens":100,"image_tokens":1000},"output_tokens":4160,"total_tokens":5260}}`
  );
}
