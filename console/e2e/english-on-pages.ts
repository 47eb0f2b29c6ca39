import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { en } from "../src/language/en/index.ts";
import { zhCN } from "../src/language/zh-CN/index.ts";
import type { FurnishedGateway } from "./furnished/furnished-gateway.ts";

/** What stands in English on a page whose language is Chinese: texts of the catalogue, and of `said`. */
export async function englishOn(page: Page, said: ReadonlySet<string>): Promise<readonly string[]> {
  const shown = await page.evaluate<string[]>(shownTexts);
  return [...new Set(shown.filter((text) => isEnglish(text) || isSaid(text, said)))];
}

/** What the gateway says with a code beside it; the names in it are somebody's own. */
export async function saidByGateway({ ada, requestId, taskId }: FurnishedGateway): Promise<ReadonlySet<string>> {
  const workspace = "acme";
  const { explanation } = await ada.call("requests.show", { params: { workspace, request: requestId } });
  const task = await ada.call("tasks.show", { params: { workspace, task: taskId } });
  const audit = await ada.call("audit.list", { params: { workspace } });
  const sentences = [
    ...(explanation?.plan ?? []).map(({ note }) => note),
    ...(explanation?.walk ?? []),
    ...task.events.filter(({ note }) => note !== null).map(({ detail }) => detail),
    ...audit.data.filter(({ target }) => target !== null).map(({ object }) => object),
  ];
  expect(explanation?.walk?.length, "the request has an explanation").toBeGreaterThan(0);
  expect(task.events.some(({ note }) => note !== null)).toBe(true);
  expect(audit.data.length).toBeGreaterThan(0);
  return new Set(sentences.filter((each) => each !== null));
}

/** What can be read, and what is told to those who hear the page. */
const shownTexts = `[...document.querySelectorAll("body *")].flatMap((element) => [
  ...[...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.textContent.trim()),
  ...["aria-label", "title", "placeholder"].map((name) => element.getAttribute(name) ?? ""),
])`;

const texts = (words: unknown): string[] =>
  typeof words === "string" ? [words] : Object.values(words as object).flatMap(texts);
// English has no texts of provider forms: they come from the gateway.
const { kinds, ...translated } = zhCN;
const chinese = texts(translated);
/** What reads the same in both languages is nobody's fault; nor is a word, which may be somebody's name for something. */
const untranslated = texts(en).filter((text, at) => chinese[at] !== text && / /.test(text));
const whole = new Set(untranslated);
const withValues = untranslated
  .filter(
    (text) =>
      /^[^{}<>]*(?:\{\w+\}[^{}<>]*)+$/.test(text) &&
      // One word between values ("is") stands in any sentence that somebody else said.
      (text.replace(/\{\w+\}/g, " ").match(/[A-Za-z]{2,}/g)?.length ?? 0) > 1,
  )
  .map(
    (text) =>
      new RegExp(
        `^${text
          .split(/\{\w+\}/)
          .map(RegExp.escape)
          .join(".+")}$`,
      ),
  );

/** Also as one part of a line: what else stands in it is after a point in the middle. */
function isSaid(text: string, said: ReadonlySet<string>): boolean {
  return text.split(" · ").some((part) => said.has(part));
}

function isEnglish(text: string): boolean {
  return whole.has(text) || (/[a-z] [a-z]/.test(text) && withValues.some((pattern) => pattern.test(text)));
}
