import { expect, test } from "bun:test";
import type { MediaPart, Turn } from "#core/index.ts";
import { upstreamSide } from "#protocols/index.ts";
import { silentTurn } from "../../test/silent-turn.ts";
import { addressesIn } from "./translation-jobs.ts";

const at = (kind: MediaPart["kind"], url: string): MediaPart => ({
  kind,
  source: { kind: "url", url, mediaType: null },
  name: null,
  detail: null,
  cache: null,
});
const image = "https://media.test/cat.png";
const document = "https://media.test/paper.pdf";
const turn: Turn = {
  ...silentTurn,
  messages: [{ role: "user", parts: [at("image", image), at("document", document)] }],
};

test.each([
  ["openai-chat", undefined, [document]],
  ["openai-chat", true, [document]],
  ["openai-chat", false, [image, document]],
  ["openai-responses", undefined, []],
  ["openai-responses", false, [image, document]],
  ["anthropic-messages", undefined, []],
  ["gemini", undefined, [image, document]],
  ["gemini", true, []],
] as const)(
  "for %s (fetches: %p), media that the upstream cannot fetch by URL is inlined",
  (dialect, fetchesUrls, fetched) => {
    expect(addressesIn(turn, fetchesUrls, upstreamSide(dialect))).toEqual([...fetched]);
  },
);
