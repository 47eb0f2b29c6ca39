import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bounds, type Failure, Redactor } from "#core/index.ts";
import {
  type AnswerContext,
  type EventReader,
  endpointProtocols,
  eventData,
  SseEvents,
  type StreamTap,
  upstreamSide,
} from "#protocols/index.ts";
import { PieceQueue } from "../../src/relay/attempt/piece-queue.ts";
import { TranslatedTap } from "../../src/relay/translation/translated-tap.ts";
import { cutBytes } from "../cut-stream.ts";
import { context, source } from "./codec-fixture.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const newId = (prefix: string): string => `${prefix}1`;
const picture = (size: number): string => "iVBORw0KGgo".padEnd(size, "AbC+/9");
const dataUri = (size: number): string => `data:image/png;base64,${picture(size)}`;

const chat = (delta: object, finish: string | null = null) => ({
  id: "c1",
  object: "chat.completion.chunk",
  model: "up",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const gemini = (parts: readonly object[], candidate: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...candidate }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1_290, totalTokenCount: 1_299 },
  modelVersion: "up",
  responseId: "r1",
});
const item = (result: string | null) => ({ type: "image_generation_call", id: "ig_1", status: "completed", result });
const response = (status: string, output: readonly object[]) => ({
  ...{ id: "resp_1", object: "response", model: "up", status, output },
  usage: { input_tokens: 9, output_tokens: 5, total_tokens: 14 },
});

const interaction = (event_type: string, members: object) => ({ event_type, ...members });
const interactionHead = { id: "v1_1", object: "interaction", model: "up" };
const interactionPicture = (index: number, data: string) =>
  interaction("step.delta", { index, delta: { type: "image", mime_type: "image/png", data } });

/** Streams with pictures of `size` bytes, in each dialect. */
const streams = {
  gemini: (size: number) => [
    gemini([{ text: "Grüße: " }]),
    gemini([{ inlineData: { mimeType: "image/png", data: picture(size) } }]),
    gemini([{ functionCall: { name: "f", args: { data: picture(size), why: 'a "quote"' } } }]),
    gemini([{ text: "" }], { finishReason: "STOP" }),
  ],
  "openai-chat": (size: number) => [
    chat({ role: "assistant", content: "Grüße: " }),
    chat({
      images: [
        { type: "image_url", image_url: { url: dataUri(size) } },
        { type: "image_url", image_url: { url: dataUri(size + 1) } },
      ],
    }),
    chat({}, "stop"),
    "[DONE]",
  ],
  "openai-responses": (size: number) => [
    { type: "response.created", response: response("in_progress", []) },
    { type: "response.output_item.added", output_index: 0, item: item(null) },
    {
      type: "response.image_generation_call.partial_image",
      output_index: 0,
      partial_image_index: 0,
      partial_image_b64: picture(size),
    },
    // This picture is complete before the earlier one.
    { type: "response.output_item.done", output_index: 1, item: item(picture(size + 1)) },
    { type: "response.output_item.done", output_index: 0, item: item(picture(size)) },
    { type: "response.completed", response: response("completed", [item(picture(size)), item(picture(size + 1))]) },
  ],
  "gemini-interactions": (size: number) => [
    interaction("interaction.created", { interaction: { ...interactionHead, status: "in_progress" } }),
    interaction("step.start", { index: 0, step: { type: "model_output" } }),
    interaction("step.delta", { index: 0, delta: { type: "text", text: "Grüße: " } }),
    interactionPicture(0, picture(size)),
    interactionPicture(0, picture(size + 1)),
    interaction("step.stop", { index: 0 }),
    interaction("interaction.completed", {
      interaction: {
        ...{ ...interactionHead, status: "completed" },
        usage: { total_input_tokens: 9, total_output_tokens: 1_290, total_tokens: 1_299 },
      },
    }),
    "[DONE]",
  ],
} as const;
const targets = {
  chat: "openai-chat",
  responses: "openai-responses",
  generate: "gemini",
  interactions: "gemini-interactions",
  messages: "",
} as const;

type From = keyof typeof streams;
type To = keyof typeof targets;
const pairs = (Object.keys(streams) as From[]).flatMap((from) =>
  (Object.keys(targets) as To[]).filter((to) => targets[to] !== from).map((to) => ({ from, to })),
);

function sent(from: From, size: number): Uint8Array {
  const texts = streams[from](size).map((event) => (typeof event === "string" ? event : JSON.stringify(event)));
  return encoder.encode(texts.map((text) => `data: ${text}\n\n`).join(""));
}

const answerContext = (): AnswerContext => ({ ...context(), newId });

/** Calls `read` with the number of characters of each event that the reader gets. */
function translatedTap({ from, to }: { from: From; to: To }, read: (characters: number) => void = () => {}): StreamTap {
  const { replyReader, codec } = upstreamSide(from);
  const writer = endpointProtocols[to].codec?.writeEvents(answerContext());
  if (codec === null || writer === undefined) throw new Error("a dialect without a codec");
  const counting = (reader: EventReader): EventReader => ({
    read(data) {
      read(data.length);
      reader.read(data);
    },
    end: () => reader.end(),
  });
  return new TranslatedTap({
    inner: replyReader.tapStream(false),
    reader: { ...codec, readEvents: (emit, from) => counting(codec.readEvents(emit, from)) },
    writer,
    source: { ...source(), newId },
    inStream: (failure: Failure) => failure,
    renderError: ({ message }: Failure) => `error: ${message}\n\n`,
  });
}

/** Everything that a caller gets of a stream that arrives in pieces. */
function received(tap: StreamTap, bytes: Uint8Array, cuts: readonly number[] = []): string {
  const queue = new PieceQueue({ redactor: new Redactor([]) });
  for (const piece of cutBytes(bytes, cuts)) queue.add(tap.push(piece), tap);
  expect(tap.complete()).toBe(true);
  queue.add(tap.rest(), tap);
  const parts: Uint8Array[] = [];
  for (let part = queue.take(); part !== null; part = queue.take()) parts.push(part);
  return decoder.decode(Buffer.concat(parts));
}

/** Translates the same stream event by event, without shortcuts for pictures. */
function translatedByEvent({ from, to }: { from: From; to: To }, bytes: Uint8Array): string {
  const { codec } = upstreamSide(from);
  const writer = endpointProtocols[to].codec?.writeEvents(answerContext());
  if (codec === null || writer === undefined) throw new Error("a dialect without a codec");
  let text = "";
  const reader = codec.readEvents((event) => (text += writer.write(event)), { ...source(), newId });
  new SseEvents(bounds.imageEventBytesMax).push(bytes, (all, start, end) => reader.read(eventData(all, start, end)));
  reader.end();
  return text;
}

describe.each(pairs)("pictures from $from for callers of $to", (pair) => {
  test("are the same wherever the stream is cut", () => {
    const bytes = sent(pair.from, 70_000);
    const expected = translatedByEvent(pair, bytes);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length - 1 }), { maxLength: 6 }), (cuts) => {
        expect(received(translatedTap(pair), bytes, cuts)).toBe(expected);
      }),
      { numRuns: 25 },
    );
  });

  test("are translated without parsing them", () => {
    let most = 0;
    const tap = translatedTap(pair, (characters) => {
      most = Math.max(most, characters);
    });
    received(tap, sent(pair.from, 3_000_000));
    expect(most).toBeLessThan(10_000);
  });
});

describe.each(Object.keys(streams) as From[])("pictures from %s for callers of the same dialect", (from) => {
  test("pass byte for byte, and do not change what is recorded of the call", () => {
    const facts = [1_000, 300_000].map((size) => {
      const bytes = sent(from, size);
      const tap = upstreamSide(from).replyReader.tapStream(false);
      expect(received(tap, bytes, [1_000, 100_000])).toBe(decoder.decode(bytes));
      return [tap.events, tap.usage, tap.usageFinal, tap.contentSeen, tap.ended, tap.id, tap.failure];
    });
    expect(facts[1]).toEqual(facts[0] ?? []);
  });
});

test("holds only pictures that the end of a translated stream repeats", () => {
  const bytes = sent("gemini", 3_000_000);
  const heldBytes = (["chat", "responses"] as const).map((to) => {
    const tap = translatedTap({ from: "gemini", to });
    tap.push(bytes);
    return tap.held ?? 0;
  });
  expect(heldBytes[0]).toBe(0);
  expect(heldBytes[1]).toBeGreaterThan(3_000_000);
});

test("ends a translated stream with an error when it would hold too many pictures", () => {
  const tap = translatedTap({ from: "gemini", to: "responses" });
  const bytes = sent("gemini", 15_000_000);
  const push = (): void => {
    for (let times = 0; times < 4; times++) tap.push(bytes);
  };
  expect(push).toThrow("of media");
});

test("ends a translated stream with an error when an event is too large apart from its pictures", () => {
  const event = gemini([{ text: "x".repeat(bounds.eventJsonBytesMax) }]);
  const tap = translatedTap({ from: "gemini", to: "chat" });
  expect(() => tap.push(encoder.encode(`data: ${JSON.stringify(event)}\n\n`))).toThrow("cannot be translated");
});
