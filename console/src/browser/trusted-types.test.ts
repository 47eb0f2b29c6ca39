import { afterAll, beforeAll, expect, test } from "bun:test";
import { onlyOwnScript, onlyText } from "./trusted-types.ts";

const place = { href: "https://ai.example.com/console/keys", origin: "https://ai.example.com" };
const before = Reflect.get(globalThis, "location");
beforeAll(() => {
  Object.defineProperty(globalThis, "location", { value: place, configurable: true, writable: true });
});
afterAll(() => {
  Object.defineProperty(globalThis, "location", { value: before, configurable: true, writable: true });
});

test("style sheets are allowed as text, but nothing that could be markup", () => {
  expect(onlyText(":root{--a:1}")).toBe(":root{--a:1}");
  expect(() => onlyText("<img src=x onerror=alert(1)>")).toThrow(TypeError);
});

test("only scripts of the console's own build may be loaded", () => {
  expect(onlyOwnScript("/console/assets/a.js")).toBe("/console/assets/a.js");
  for (const url of [
    "https://evil.example/console/a.js",
    "/v1/files/a.js",
    "data:text/javascript,1",
    "//evil.example/console/",
  ]) {
    expect(() => onlyOwnScript(url), url).toThrow(TypeError);
  }
});
