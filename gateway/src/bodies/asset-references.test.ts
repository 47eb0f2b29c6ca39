import { expect, test } from "bun:test";
import { mentionsAssets, readAssets } from "./asset-references.ts";

const context = { newId: (prefix: string) => `${prefix}1` };

test.each([
  ["as everybody writes it", '{"image":"asset://as_1","more":["asset://as_2"]}', ["as_1", "as_2"]],
  ["with its slashes escaped, as PHP writes it", '{"image":"asset:\\/\\/as_1"}', ["as_1"]],
  ["with its scheme in capitals", '{"image":"Asset://as_1"}', ["as_1"]],
])("a reference to an asset is found %s", (_, text, ids) => {
  const body = Buffer.from(text);
  expect(mentionsAssets(body)).toBe(true);
  expect(readAssets(body, null, [], context).answer).toEqual(ids);
});

test("a body that names no asset is not looked into", () => {
  expect(mentionsAssets(Buffer.from('{"image":"https://pictures.example/a.png"}'))).toBe(false);
});
