import { expect, test } from "bun:test";
import { accentColors, accentRules, contrast } from "./accent.ts";

const colors = [
  "#000000",
  "#ffffff",
  "#808080",
  "#ffff00",
  "#00ff00",
  "#0000ff",
  "#ff0000",
  "#7048e8",
  "#0b7285",
  "#ffc9c9",
];
const hues = Array.from(
  { length: 24 },
  (_, at) => `#${((at * 699_050 + 4_660) % 0x1000000).toString(16).padStart(6, "0")}`,
);
const readable = 4.5;

test("texts in every accent color are readable in the light and the dark scheme", () => {
  for (const color of [...colors, ...hues]) {
    const { light, dark } = accentColors(color);
    const pairs = [light, dark].flatMap(({ filled, hover, soft, softHover, softText }) => [
      [filled, "#ffffff"],
      [hover, "#ffffff"],
      [softText, soft],
      [softText, softHover],
    ]);
    for (const ground of ["#ffffff", "#f6f8f9", "#eef2f4"]) pairs.push([light.link, ground]);
    for (const ground of ["#0d1316", "#11181b", "#182125", "#1f292d", "#28343a"]) pairs.push([dark.link, ground]);
    for (const [text = "", ground = ""] of pairs) {
      expect(contrast(text, ground), `${color}: ${text} on ${ground}`).toBeGreaterThanOrEqual(readable);
    }
  }
});

test("a color that is readable is used as it is", () => {
  expect(accentColors("#5f3dc4").light.filled).toBe("#5f3dc4");
});

test("rules only contain colors", () => {
  expect(accentRules("#7048e8")).toMatch(/^(?:[^{}]+\{(?:--[\w-]+:#[0-9a-f]{6};?)+\}\n?)+$/);
});
