import { expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { systemClock } from "#system/index.ts";
import { silentObserver } from "../../test/conformance/store-fixture.ts";
import { openApiFile } from "./openapi-file.ts";

const fileFor = (publicUrl: string) =>
  openApiFile({ publicUrl: () => publicUrl, clock: systemClock, observer: silentObserver });

test("builds the document once, compressed, in a thread", async () => {
  let turns = 0;
  const file = fileFor("https://ai.example.com");
  const counting = setInterval(() => turns++, 1);
  const [{ bytes, gzip, etag }, again] = await Promise.all([file(), file()]);
  clearInterval(counting);
  // Had it been built here, no timer would have run.
  expect(turns).toBeGreaterThan(0);
  expect(again.bytes).toBe(bytes);
  const text = new TextDecoder().decode(bytes);
  expect(JSON.parse(text).servers[0].url).toBe("https://ai.example.com");
  expect(gunzipSync(gzip ?? bytes).toString()).toBe(text);
  expect((gzip?.length ?? 0) * 8).toBeLessThan(bytes.length);
  expect((await fileFor("https://other.example.com")()).etag).not.toBe(etag);
});
