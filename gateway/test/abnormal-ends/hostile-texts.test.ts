import { expect, test } from "bun:test";
import { bounds, Failure, Secret, type Turn } from "#core/index.ts";
import {
  anthropicMessagesWire,
  gemini,
  imagesWire,
  MultipartScanner,
  openaiResponsesCodec,
  SseEvents,
} from "#protocols/index.ts";
import { accountRedactor } from "#providers/index.ts";
import { providerOf } from "../provider-fixture.ts";
import { silentTurn } from "../silent-turn.ts";

/**
 * Texts from outside, of maximum length, built so that a careless regular expression rescans them repeatedly.
 * Measures this thread's CPU time, the minimum of several runs; careless patterns took seconds to minutes.
 */
const cpuMsMax = 1_500;

function cpuMs(act: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 4 && least >= cpuMsMax / 10; run++) {
    const before = process.threadCpuUsage();
    act();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const long = (piece: string, size: number = bounds.errorBodyBytesMax): string =>
  piece.repeat(Math.ceil(size / piece.length)).slice(0, size);

test.each([
  ["endless letters", long("a")],
  ["letters, then a mask", `${long("a")}***`],
  ["repeated beginnings of a token", long("eyJaaaaaaaa-")],
  ["repeated beginnings of private keys", long("-----BEGIN PRIVATE KEY-----")],
  ["masks", long("a***")],
  ["addresses", long("://a:")],
  ["escapes", long("%41\\u0041")],
  ["half a key", long("sk-proj-0123456")],
])("searches an error for keys in linear time: %s", (_name, text) => {
  const provider = providerOf("openai", { secret: new Secret("sk-proj-0123456789abcdefghijklmnop") });
  expect(cpuMs(() => accountRedactor(provider).bytes(bytes(text)))).toBeLessThan(cpuMsMax);
});

test("searches a Gemini error for a too long prompt in linear time", () => {
  const body = bytes(JSON.stringify({ error: { code: 400, message: long("input token count "), status: "X" } }));
  expect(cpuMs(() => gemini.readRefusal(400, body))).toBeLessThan(cpuMsMax);
});

test("reads the head of a form part with many blanks in linear time", () => {
  const head = `content-disposition: form-data; name="a"\r\nx: a${" ".repeat(bounds.formHeadBytesMax - 200)}b`;
  const form = bytes(`--b\r\n${head}\r\n\r\n1\r\n`.repeat(bounds.formPartsMax - 1));
  expect(cpuMs(() => [...new MultipartScanner("b").push(form)].length)).toBeLessThan(cpuMsMax);
});

test("reads any document type in linear time", () => {
  const type = `a/${"!".repeat(bounds.translateInPlaceBytesMax)}\n\n`;
  const source = { kind: "base64", mediaType: type, data: "" } as const;
  const document = { kind: "document", source, name: null, detail: null, cache: null } as const;
  const turn: Turn = { ...silentTurn, messages: [{ role: "user", parts: [document] }] };
  const target = { upstreamModel: "m", account: "a", traits: {}, newId: (prefix: string) => prefix };
  const write = () => openaiResponsesCodec.writeTurn(turn, target, () => {});
  expect(cpuMs(write)).toBeLessThan(cpuMsMax);
});

test.each([
  ["lines of data without a text", "data:\n"],
  ["lines that end in a CR", "data:a\r"],
  ["ends of lines", ":\r"],
])("reads an event of many lines in linear time: %s", (_name, line) => {
  const event = bytes(`${long(line, bounds.eventBytesMax - 16)}\n\n`);
  const events = () => {
    for (const wire of [anthropicMessagesWire, imagesWire]) {
      try {
        wire.tapStream(false).push(event);
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown;
      }
    }
    new SseEvents().push(event, () => {});
  };
  expect(cpuMs(events)).toBeLessThan(cpuMsMax);
});

test("reads a stream byte by byte in linear time", () => {
  const event = bytes(`data: ${long("a", 256 * 1024)}\n\n`);
  const byByte = () => {
    const events = new SseEvents();
    let seen = 0;
    for (let at = 0; at < event.length; at++) events.push(event.subarray(at, at + 1), () => seen++);
    expect(seen).toBe(1);
  };
  expect(cpuMs(byByte)).toBeLessThan(cpuMsMax);
});

test("reads a stream of empty events that end in CRs, in chunks, in linear time", () => {
  const piece = bytes("\r".repeat(64 * 1024));
  const events = new SseEvents();
  expect(
    cpuMs(() => {
      for (let pieces = 0; pieces < 16; pieces++) events.push(piece, () => {});
    }),
  ).toBeLessThan(cpuMsMax);
});
