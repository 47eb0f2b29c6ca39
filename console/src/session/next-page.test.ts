import { expect, test } from "bun:test";
import { herePage, nextPage } from "./next-page.ts";

test("returns to the requested page after sign-in, with its query", () => {
  expect(nextPage("/keys?workspace=acme")).toBe("/console/keys?workspace=acme");
  expect(nextPage(herePage("/console/models/gpt-4.1", "?a=1"))).toBe("/console/models/gpt-4.1?a=1");
  expect(herePage("/", "")).toBe("/");
});

test("ignores URLs of other sites as the next page", () => {
  const tricks = [
    "//evil.example",
    "/\\evil.example",
    "https://evil.example",
    "javascript:alert(1)",
    "/\t/evil",
    "\\\\evil",
    "evil",
    "",
  ];
  for (const trick of [...tricks, "/sign-in?next=/sign-in"]) expect(nextPage(trick), trick).toBe("/console/");
});
