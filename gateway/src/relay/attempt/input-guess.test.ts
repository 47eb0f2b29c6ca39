import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { asksToCache, guessInput } from "./hold.ts";

type Guessed = Parameters<typeof asksToCache>[0];

function callOf(content: object, wireDialect = "anthropic-messages"): Guessed {
  const body = Buffer.from(JSON.stringify(content));
  const facts = { inputEstimate: Math.ceil(body.length / 4), mayHoldMedia: true };
  return { facts, body, protocol: { wireDialect } } as unknown as Guessed;
}

const guess = (content: object) => guessInput(callOf(content));
const caching = (content: object, wireDialect?: string) => asksToCache(callOf(content, wireDialect));

const file = (head: string, size: number) =>
  Buffer.concat([Buffer.from(head, "latin1"), Buffer.alloc(Math.max(0, size - head.length), 7)]).toString("base64");
const pdf = (body: string) => ({ data: file(`%PDF-1.7\n${body}\n`, 30_000) });

test("estimates a PDF by its pages, or by its bytes if they are packed or too many", () => {
  const pages = `<< /Type /Pages /Count 3 >>${"<< /Type /Page /Parent 1 0 R >>".repeat(3)}`;
  expect(guess(pdf(pages)).text).toBeWithin(18_000, 18_100);
  expect(guess(pdf(`${pages}<< /Type /ObjStm >>`)).text).toBeWithin(40_000, 40_200);
  expect(guess(pdf("nothing to see")).text).toBeWithin(40_000, 40_200);
  const large = { data: file(`%PDF-1.7\n${pages}`, 3_000_000) };
  expect(guess(large).text).toBeGreaterThan(3_900_000);
});

test("recognizes media by their first bytes, not by their declared type", () => {
  const of = (head: string) => guess({ type: "image", data: file(head, 96_000) });
  expect(of("\x89PNG\r\n\x1a\n")).toMatchObject({ image: bounds.pictureTokensMax, audio: 0 });
  expect(of("RIFF\0\0\0\0WEBPVP8 ").image).toBe(bounds.pictureTokensMax);
  expect(of("RIFF\0\0\0\0WAVEfmt ")).toMatchObject({ image: 0, audio: 5_334 });
  expect(of("\0\0\0\x18ftypmp42").image).toBe(bounds.pictureTokensMax + 16_000);
  expect(of("\0\0\0\x18ftypheic").image).toBe(bounds.pictureTokensMax);
  // A packed document.
  expect(of("PK\x03\x04").text).toBeGreaterThanOrEqual(128_000);
});

test("long text in a data member is text", () => {
  expect(guess({ data: "some words that go on and on ".repeat(1_000) }).text).toBeLessThan(9_100);
});

test("holds the write price of the cache if the request uses the cache", () => {
  expect(caching({ messages: "hi" })).toBe("none");
  expect(caching({ cache_control: { type: "ephemeral" } })).toBe("short");
  expect(caching({ cache_control: { type: "ephemeral", ttl: "1h" } })).toBe("long");
  expect(caching({ messages: "hi" }, "openai-responses")).toBe("short");
  expect(caching({ prompt_cache_options: { ttl: "12h" } }, "openai-responses")).toBe("long");
});
