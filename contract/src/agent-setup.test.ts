import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { codexProviderLines } from "./agent-setup.ts";

test("the page on Codex has what `sluice connect codex` writes", () => {
  const page = readFileSync(new URL("../../docs/clients/codex.md", import.meta.url), "utf8");
  const lines = codexProviderLines("http://localhost:8787");
  const end = lines.indexOf("");
  expect(page).toContain(lines.slice(end + 1).join("\n"));
  for (const line of lines.slice(0, end)) expect(page).toContain(line);
});
