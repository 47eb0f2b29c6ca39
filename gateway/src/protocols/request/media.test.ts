import { expect, test } from "bun:test";
import { inlineMediaUrls, mediaUrlsIn } from "./media.ts";

const encoder = new TextEncoder();
const found = new Map([["https://x.example/a.png", { mediaType: "image/png", data: "QUJD" }]]);

test.each([
  [
    '{"image_url":{"detail":"low","url":"https://x.example/a.png"}}',
    '{"image_url":{"detail":"low","url":"data:image/png;base64,QUJD"}}',
  ],
  ['{"image_url": "https:\\/\\/x.example/a.png" }', '{"image_url": "data:image/png;base64,QUJD" }'],
  ['{"im\\u0061ge_url":"https://x.example/a.png"}', '{"im\\u0061ge_url":"data:image/png;base64,QUJD"}'],
  [
    '{"content":[{"type":"image","source":{"type":"url","url":"https://x.example/a.png"},"cache_control":{}}]}',
    '{"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"},"cache_control":{}}]}',
  ],
])("replaces only the URL by its media: %s", (text, expected) => {
  const body = encoder.encode(text);
  expect(new TextDecoder().decode(inlineMediaUrls(body, mediaUrlsIn(body), found))).toBe(expected);
});

test.each([
  '{"image_url":{"url":"http://10.0.0.1/","url":"data:image/png;base64,QUJD"}}',
  '{"source":{"type":"url","url":"http://10.0.0.1/","url":"data:image/png;base64,QUJD"}}',
  '{"source":{"type":"url","url":"http://10.0.0.1/","url":null}}',
  '{"source":{"type":"url","type":"base64","url":"http://10.0.0.1/"}}',
])("rejects an ambiguous object: %s", (text) => {
  expect(() => mediaUrlsIn(encoder.encode(text))).toThrow("must occur only once");
});

test.each([
  '{"mcp_servers":[{"type":"url","url":"https://x.example/a.png"}]}',
  '{"tools":[{"type":"mcp","server_url":"https://x.example/a.png"}]}',
  '{"messages":[{"content":[{"type":"tool_use","input":{"image_url":"https://x.example/a.png"}}]}]}',
  '{"image_url":null}',
])("does not change other URLs: %s", (text) => {
  expect(mediaUrlsIn(encoder.encode(text))).toEqual([]);
});

test.each([
  '{"source":{"type":"url","url":"https://x.example/a.png","x":{"source":{"type":"url","url":"https://x.example/b.png"}}}}',
  '{"source":{"type":"url","url":"https://x.example/a.png","x":{"image_url":"https://x.example/b.png"}}}',
])("rejects a source that contains another URL: %s", (text) => {
  expect(() => mediaUrlsIn(encoder.encode(text))).toThrow("must not contain another address");
});

test("limits the total size of a picture that is used many times", () => {
  const image = '{"image_url":"https://x.example/a.png"}';
  const body = encoder.encode(`{"content":[${`${image},`.repeat(100)}${image}]}`);
  const large = new Map([["https://x.example/a.png", { mediaType: "image/png", data: "A".repeat(1024 * 1024) }]]);
  expect(() => inlineMediaUrls(body, mediaUrlsIn(body), large)).toThrow("exceed");
});
