import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { withQuery } from "./caller-query.ts";

const url = "https://upstream.example/v1/messages";

test.each([
  ["", url],
  ["beta=true", `${url}?beta=true`],
  ["beta=true&x=%C3%BC&y", `${url}?beta=true&x=%C3%BC&y`],
])("keeps the query %p unchanged", (query, expected) => {
  expect(withQuery(url, query)).toBe(expected);
  expect(withQuery(`${url}?alt=sse`, query)).toBe(
    expected.includes("?") ? `${url}?alt=sse&${query}` : `${url}?alt=sse`,
  );
});

test.each(["key=sk-1", "api_key=sk-1", "%6bey=sk-1", "KEY=sk-1", "access_token=sk-1&&token=sk-1"])(
  "removes credentials from the query %s",
  (query) => {
    expect(withQuery(url, query)).toBe(url);
    expect(withQuery(url, `beta=true&${query}`)).toBe(`${url}?beta=true`);
  },
);

test.each(["a=\\x", "a=b c", "a=\u0001", "a=#", "ü", `a=${"x".repeat(bounds.queryBytesMax)}`])(
  "rejects an invalid query (%#)",
  (query) => {
    expect(() => withQuery(url, query)).toThrow(expect.objectContaining({ code: "invalid_request", unhealthy: false }));
  },
);
