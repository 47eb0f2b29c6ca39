import { expect, test } from "bun:test";
import { countMediaByUrl } from "./media.ts";

const found = (body: object) =>
  countMediaByUrl(Buffer.from(JSON.stringify(body)), { classes: 0xff, longStrings: null });
const url = "https://example.com/a";

test("distinguishes pictures from other media in each dialect", () => {
  expect(
    found({
      content: [
        { type: "image_url", image_url: { url } },
        { type: "input_image", image_url: url },
      ],
    }),
  ).toEqual({
    pictures: 2,
    others: 0,
  });
  const sources = [
    { type: "image", source: { type: "url", url } },
    { type: "document", title: '"image"', source: { type: "url", url } },
    { source: { url, type: "url" }, type: "document" },
  ];
  expect(found({ content: sources })).toMatchObject({ pictures: 1, others: 2 });
  const parts = [{ fileData: { fileUri: url, mimeType: "image/png" } }, { file_data: { file_uri: url } }];
  expect(found({ parts })).toMatchObject({ pictures: 1, others: 1 });
});

test("counts an object with two URLs", () => {
  const body = Buffer.from(`{"image_url":{"url":"${url}","url":"data:image/png;base64,QUJD"}}`);
  expect(countMediaByUrl(body, { classes: 0xff, longStrings: null })).toEqual({ pictures: 1, others: 0 });
});

test("does not count URLs in the caller's own data", () => {
  expect(found({ image_url: { url: "data:image/png;base64,QUJD" } })).toMatchObject({ pictures: 0, others: 0 });
  expect(found({ tool: { input: { file_url: url } } })).toMatchObject({ pictures: 0, others: 0 });
  expect(found({ text: "hello" })).toBeUndefined();
});

test("counts URLs beyond the limit as documents", () => {
  const content = Array.from({ length: 10_000 }, () => ({ type: "input_image", image_url: url }));
  expect(found({ content })).toEqual({ pictures: 256, others: 1 });
});
