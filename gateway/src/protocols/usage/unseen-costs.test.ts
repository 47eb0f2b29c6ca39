import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bounds } from "#core/index.ts";
import { addressBounds, hostedTools } from "./unseen-costs.ts";

const text = readFileSync(join(import.meta.dir, "../../../../docs/limits.md"), "utf8");
const section = text.slice(text.indexOf("## Reservations"), text.indexOf("## Alerts on budgets"));
const rows = section.split("\n").filter((line) => line.startsWith("| "));
const figure = (count: number): string => count.toLocaleString("en-US");

test("docs/limits.md lists the reservation for each tool that an upstream runs", () => {
  const shown = hostedTools.map(({ title, tokens, calls }) => {
    const often = calls === bounds.serverToolCallsAssumed ? `\`max_uses\`, else ${calls}` : `${calls}`;
    return `| ${title} | ${figure(tokens)} | ${often} |`;
  });
  const start = rows.findIndex((row) => row.startsWith("| tool |"));
  expect(rows.slice(start + 1, start + 1 + shown.length)).toEqual(shown);
});

test("docs/limits.md lists the reservation for media sent by URL", () => {
  for (const [member, bound] of Object.entries(addressBounds)) {
    const held = bound === "picture" ? `${figure(bounds.pictureTokensMax)} tokens` : "the model's context window";
    expect(rows.filter((row) => row.includes(`\`${member}\``) && row.includes(held))).not.toEqual([]);
  }
});

test("docs/limits.md lists the reservation for generated pictures and unknown context windows", () => {
  expect(section).toContain(`an image of ${figure(bounds.drawnTokensMax)} tokens`);
  expect(section).toContain(`generated ones of more than ${figure(bounds.drawnTokensMax)}`);
  expect(section).toContain(`else ${figure(bounds.contextTokensAssumed)} tokens are reserved`);
});
