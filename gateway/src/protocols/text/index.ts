import type { WireDialectId } from "#core/index.ts";
import { chatTexts } from "./chat-texts.ts";
import { media, object, piece, pieces, text, url, word } from "./common-shapes.ts";
import { geminiTexts } from "./gemini-texts.ts";
import { interactionsTexts } from "./interactions-texts.ts";
import { messagesTexts } from "./messages-texts.ts";
import { responsesTexts } from "./responses-texts.ts";
import type { DialectTexts } from "./shape.ts";

/** Every string is a text, except the model's name. Strings at the same place of a stream's events may be pieces of one text. */
const plainTexts: DialectTexts = {
  request: object({ model: word }),
  answer: object({
    model: word,
    object: word,
    choices: object({ index: word, finish_reason: word, logprobs: { repeats: "null" } }),
    data: object({ object: word, b64_json: media, url, embedding: media }),
    embeddings: object({ values: word }),
    usage: word,
  }),
  stream: {
    event: object({
      type: word,
      object: word,
      model: word,
      b64_json: media,
      audio: media,
      delta: pieces,
      // Of Cohere, Mistral and others.
      text: pieces,
      content: pieces,
      completion: pieces,
      generated_text: pieces,
      usage: word,
      choices: object({
        index: word,
        finish_reason: { skip: "structure", ends: true },
        text: piece(text),
        delta: object({ role: word }, { others: pieces }),
        logprobs: { repeats: "null" },
      }),
    }),
    labels: ["index"],
    endsTexts: (type) => /[.-](?:done|completed|end|stop)$/.test(type),
    repeatsTexts: true,
  },
};

const byDialect: Readonly<Partial<Record<WireDialectId, DialectTexts>>> = {
  "openai-chat": chatTexts,
  "anthropic-messages": messagesTexts,
  "openai-responses": responsesTexts,
  gemini: geminiTexts,
  "gemini-interactions": interactionsTexts,
};

/** Where the texts of a dialect are. In dialects without a table, every string is a text. */
export function textsOf(dialect: WireDialectId): DialectTexts {
  return byDialect[dialect] ?? plainTexts;
}
