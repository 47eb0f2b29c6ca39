import {
  data,
  media,
  object,
  piece,
  pieces,
  sealed,
  text,
  toolArguments,
  toolArgumentsJson,
  toolResults,
  url,
  word,
  wordsOf,
} from "./common-shapes.ts";
import type { DialectTexts, TextShape } from "./shape.ts";

// Source: Interaction, Step and StepDelta of the npm package `@google/genai`.

const contentMembers: Readonly<Record<string, TextShape>> = {
  type: word,
  text,
  data: media,
  uri: url,
  mime_type: word,
  resolution: word,
};
const content = object(contentMembers);

const stepMembers: Readonly<Record<string, TextShape>> = {
  type: word,
  id: text,
  call_id: text,
  name: text,
  content,
  summary: { ...content, place: "reasoning" },
  signature: sealed,
  arguments: toolArguments,
  result: toolResults,
  is_error: word,
  status: word,
};
const step = object(stepMembers);

/** A text, contents or steps. */
const input = object({ ...contentMembers, ...stepMembers, role: word });

const interaction = object({
  id: text,
  object: word,
  ...wordsOf("model", "agent", "status", "role", "created", "updated", "service_tier", "usage"),
  previous_interaction_id: text,
  continuation_token: sealed,
  steps: step,
  outputs: content,
  input,
  system_instruction: { place: "system" },
});

export const interactionsTexts: DialectTexts = {
  request: object({
    ...wordsOf("model", "agent", "stream", "store", "background", "service_tier", "response_modalities"),
    input,
    previous_interaction_id: text,
    continuation_token: sealed,
    system_instruction: { ...content, place: "system" },
    tools: object({ type: word, name: text, description: text, parameters: data }, { place: "system" }),
    response_format: { ...data, place: "system" },
    response_mime_type: word,
    labels: data,
  }),
  answer: interaction,
  stream: {
    event: object({
      event_type: word,
      event_id: word,
      index: word,
      interaction,
      interaction_id: text,
      status: word,
      step,
      delta: object(
        {
          type: word,
          text: piece(text),
          arguments: piece(toolArgumentsJson),
          content: object({ ...contentMembers, text: piece(text) }, { place: "reasoning" }),
          signature: sealed,
          ...{ data: media, uri: url, mime_type: word, resolution: word },
          result: toolResults,
          is_error: word,
        },
        { others: pieces },
      ),
    }),
    labels: ["index"],
    typeMember: "event_type",
    endsTexts: (type) => type === "step.stop" || type === "interaction.completed",
    repeatsTexts: true,
  },
};
