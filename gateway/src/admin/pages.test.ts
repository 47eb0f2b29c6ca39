import { expect, test } from "bun:test";
import type { StaticFile } from "#ports/index.ts";
import { answerFile } from "./pages.ts";

const file: StaticFile = {
  bytes: new TextEncoder().encode("as it is"),
  gzip: new TextEncoder().encode("gzip"),
  brotli: new TextEncoder().encode("brotli"),
  type: "text/plain; charset=utf-8",
  immutable: false,
  etag: 'W/"tag"',
};

const codingOf = (accepted: string | null, served = file) =>
  answerFile(
    new Request("http://localhost/", accepted === null ? {} : { headers: { "accept-encoding": accepted } }),
    served,
    "default-src 'none'",
  ).headers.get("content-encoding");

test("sends the smallest accepted encoding, and never a refused one", () => {
  const cases: readonly (readonly [string | null, string | null])[] = [
    ["gzip, deflate, br, zstd", "br"],
    ["gzip, deflate", "gzip"],
    ["X-GZIP", "gzip"],
    ["br;q=0, gzip", "gzip"],
    ["br;q=0.000, *", "gzip"],
    ["gzip;q=0, *;q=0.1", "br"],
    ["*", "br"],
    ["*;q=0", null],
    ["identity", null],
    ["br;q=nonsense", null],
    ["", null],
    [null, null],
  ];
  for (const [accepted, coding] of cases) expect([accepted, codingOf(accepted)]).toEqual([accepted, coding]);
  expect(codingOf("br", { ...file, brotli: null })).toBeNull();
});
