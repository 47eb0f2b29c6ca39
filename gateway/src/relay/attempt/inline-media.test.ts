import { expect, test } from "bun:test";
import { addressesIn, withMedia } from "#bodies/index.ts";
import { bounds, type MediaPart, type Turn } from "#core/index.ts";
import type { OutboundAnswer, OutboundRequest, Transport } from "#ports/index.ts";
import { SendingTransport } from "../../../test/sending-transport.ts";
import { silentTurn } from "../../../test/silent-turn.ts";
import { fetchAll } from "./body-work.ts";

const picture = (url: string): MediaPart => ({
  kind: "image",
  source: { kind: "url", url, mediaType: null },
  name: null,
  detail: null,
  cache: null,
});
const turn = (...parts: readonly MediaPart[]): Turn => ({
  ...silentTurn,
  messages: [{ role: "user", parts }],
});

/** The web, as far as these tests need it. */
class SmallWeb extends SendingTransport {
  readonly fetched: OutboundRequest[] = [];
  readonly #pages: Readonly<Record<string, Response>>;

  constructor(pages: Readonly<Record<string, Response>>) {
    super();
    this.#pages = pages;
  }

  async send(request: OutboundRequest): Promise<OutboundAnswer> {
    this.fetched.push(request);
    const page = (this.#pages[request.url]?.clone() as Response | undefined) ?? new Response("gone", { status: 404 });
    const bytes = await page.bytes();
    const body = {
      read: async () => bytes,
      readAll: async (bytesMax: number) => {
        if (bytes.length > bytesMax) throw new Error("too large");
        return bytes;
      },
      cancel: () => {},
    };
    return { status: page.status, headers: page.headers, body };
  }
}

const png = (bytes: string): Response => new Response(bytes, { headers: { "content-type": "image/png; charset=x" } });
const none = () => false;
const signal = new AbortController().signal;
const needsInline = (said: Turn, takesUrl: (url: string) => boolean): boolean =>
  addressesIn(said, undefined, { takesUrl }).length > 0;
const inlineMedia = async (said: Turn, web: Transport): Promise<Turn> => {
  const dependencies = { transport: web, clock: { monotonic: () => 0 } };
  const fetch = { dependencies, call: { signal }, tally: { awayMs: 0 } };
  const { media: types, bytes } = await fetchAll(addressesIn(said, undefined, { takesUrl: none }), fetch);
  const media = types.map(
    ({ url, mediaType }, index) =>
      [url, { mediaType, data: Buffer.from(bytes[index] ?? []).toString("base64") }] as const,
  );
  return withMedia(said, new Map(media));
};

test("replaces addresses by media, each fetched once, with the type from its host", async () => {
  const web = new SmallWeb({ "https://a.example/x.png": png("one") });
  const before = turn(picture("https://a.example/x.png"), picture("https://a.example/x.png"));
  expect(needsInline(before, none)).toBe(true);
  const after = await inlineMedia(before, web);
  const source = { kind: "base64", mediaType: "image/png", data: Buffer.from("one").toString("base64") } as const;
  expect(after.messages[0]?.parts).toMatchObject([{ source }, { source }]);
  expect(web.fetched).toHaveLength(1);
  expect(needsInline(after, none)).toBe(false);
});

test("a caller's address never reaches a private network, also after redirects, and redirects are bounded", async () => {
  const move = (location: string) => new Response("", { status: 302, headers: { location } });
  const web = new SmallWeb({
    "https://a.example/1": move("/2"),
    "https://a.example/2": png("two"),
    "https://a.example/round": move("https://a.example/round"),
  });
  const after = await inlineMedia(turn(picture("https://a.example/1")), web);
  expect(after.messages[0]?.parts[0]).toMatchObject({ source: { kind: "base64" } });
  expect(web.fetched.every(({ allowPrivateNetwork }) => !allowPrivateNetwork)).toBe(true);
  const round = inlineMedia(turn(picture("https://a.example/round")), web);
  expect(await round.catch((thrown: unknown) => thrown)).toMatchObject({ code: "invalid_request", retry: "never" });
});

test("returns 400 for missing, too large and too many media", async () => {
  const big = "x".repeat(1_000);
  const pages = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`https://a.example/${index}`, png(big)] as const),
  );
  const web = new SmallWeb(pages);
  const many = turn(...Object.keys(pages).map(picture));
  expect(await inlineMedia(many, web).catch((thrown: unknown) => thrown)).toMatchObject({ code: "invalid_request" });
  const missing = turn(picture("https://a.example/none"));
  expect(await inlineMedia(missing, web).catch((thrown: unknown) => thrown)).toMatchObject({
    code: "invalid_request",
    param: "messages",
  });
  expect(bounds.inlinedMediaMax).toBeLessThan(40);
});

test("keeps addresses that the upstream fetches, and other texts", () => {
  expect(needsInline(turn(picture("gs://bucket/x")), none)).toBe(false);
  expect(needsInline(turn(picture("https://own.example/x")), (url) => url.includes("own"))).toBe(false);
});

test.each(["demo://simulator/v1/models", "file:///etc/passwd", "data:image/png;base64,AAAA"])(
  "an address that moves to %s is not followed",
  async (location) => {
    const web = new SmallWeb({
      "https://a.example/x.png": new Response("", { status: 302, headers: { location } }),
      [location]: png("inside"),
    });
    const fetched = inlineMedia(turn(picture("https://a.example/x.png")), web);
    await expect(fetched).rejects.toMatchObject({ code: "invalid_request" });
    expect(web.fetched.map(({ url }) => url)).toEqual(["https://a.example/x.png"]);
  },
);
