import { expect, test } from "bun:test";
import { join } from "node:path";
import { snippetsFor } from "../../components/snippet-texts.ts";
import { guidesOf, guideText, guideTitles } from "./guides.ts";
import { agentTexts, ciTexts } from "./setup-texts.ts";

const url = "https://ai.example.com";
const pageOf = (guide: string) => Bun.file(join(import.meta.dir, `../../../../docs/clients/${guide}.md`)).text();

test("a guide uses this gateway's URL and hides test markers", async () => {
  for (const guide of Object.keys(guideTitles)) {
    const text = guideText(await pageOf(guide), `${url}/`);
    expect(text).not.toMatch(/<!--|-->|localhost:8787|^# /);
    expect([guide, text.length > 300]).toEqual([guide, true]);
  }
  expect(guideText(await pageOf("codex"), url)).toContain(`base_url = "${url}/v1"`);
});

test("every snippet for a program links to its page", () => {
  const texts = [
    ...agentTexts(url, "m"),
    ...ciTexts(url, "m"),
    ...snippetsFor({ baseUrl: url, apiKey: null, model: "m" }),
  ];
  const without = texts.filter(({ id }) => guidesOf(id).length === 0).map(({ id }) => id);
  // Shell calls are in the API reference, and environment variables are read by many programs.
  expect(without).toEqual(["curl", "environment"]);
});
