import { expect, test } from "bun:test";
import { herePage, nextPage } from "./next-page.ts";

test("after signing in one comes back to the page one wanted, with its search", () => {
  expect(nextPage("/keys?workspace=acme")).toBe("/console/keys?workspace=acme");
  expect(nextPage(herePage("/console/models/gpt-4.1", "?a=1"))).toBe("/console/models/gpt-4.1?a=1");
  expect(herePage("/", "")).toBe("/");
});

test("no address elsewhere can be slipped in as the page to come back to", () => {
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
