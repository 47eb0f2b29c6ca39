import { expect, test } from "bun:test";
import { mentionsAssets, putAssets, readAssets } from "./asset-references.ts";

test.each([
  ["as everybody writes it", '{"image":"asset://as_1","more":["asset://as_2"]}', ["as_1", "as_2"]],
  ["with its slashes escaped, as PHP writes it", '{"image":"asset:\\/\\/as_1"}', ["as_1"]],
  ["with its scheme in capitals", '{"image":"Asset://as_1"}', ["as_1"]],
])("a reference to an asset is found %s", (_, text, ids) => {
  const body = Buffer.from(text);
  expect(mentionsAssets(body)).toBe(true);
  expect(readAssets(body, null).answer).toEqual(ids);
});

test("skips a body without asset references", () => {
  expect(mentionsAssets(Buffer.from('{"image":"https://pictures.example/a.png"}'))).toBe(false);
});

test("replaces the reference by the asset and changes no other byte", () => {
  const sent = (first: string, second: string): string =>
    `{ "seed": 9007199254740993, "asset://as_1" : 1.50, "say": "\\"asset://as_1 \\\\", "i": ["${first}" , "${second}"],\n "n":"asset://as_9"}`;
  const ask = { urls: [["as_1", 'https://files.example/a?b="c']] as [string, string][], media: [] };
  const body = Buffer.from(sent("Asset:\\/\\/as_1", "\\u0061sset://as_1"));
  const put = putAssets(body, ask, []).made;
  const url = 'https://files.example/a?b=\\"c';
  expect(Buffer.from(put ?? []).toString()).toBe(sent(url, url));
});
