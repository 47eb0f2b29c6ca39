import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { en } from "../src/language/en/index.ts";
import { zhCN } from "../src/language/zh-CN/index.ts";
import type { PopulatedGateway } from "./populated/populated-gateway.ts";

/** English texts on a page in Chinese: texts of the console, and `sentences` of the gateway. */
export async function untranslatedTexts(page: Page, sentences: ReadonlySet<string>): Promise<readonly string[]> {
  const shown = await page.evaluate<string[]>(shownTexts);
  return [...new Set(shown.filter((text) => isEnglish(text) || isGatewaySentence(text, sentences)))];
}

/** Sentences of the gateway that have a code, so that the console should translate them. */
export async function gatewaySentences({ ada, requestId, taskId }: PopulatedGateway): Promise<ReadonlySet<string>> {
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

/** Visible texts, and texts for screen readers. */
const shownTexts = `[...document.querySelectorAll("body *")].flatMap((element) => [
  ...[...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.textContent.trim()),
  ...["aria-label", "title", "placeholder"].map((name) => element.getAttribute(name) ?? ""),
])`;

const texts = (words: unknown): string[] =>
  typeof words === "string" ? [words] : Object.values(words as object).flatMap(texts);
// English texts of provider forms come from the gateway.
const { kinds, ...translated } = zhCN;
const chinese = texts(translated);
/** English texts that differ from the Chinese ones. Single words are ignored, because they may be names. */
const untranslated = texts(en).filter((text, at) => chinese[at] !== text && / /.test(text));
const whole = new Set(untranslated);
const withValues = untranslated
  .filter(
    (text) =>
      /^[^{}<>]*(?:\{\w+\}[^{}<>]*)+$/.test(text) &&
      // A text with a single word ("is") would match unrelated sentences.
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

/** Also if it is one part of a line: parts are separated by a middle dot. */
function isGatewaySentence(text: string, sentences: ReadonlySet<string>): boolean {
  return text.split(" · ").some((part) => sentences.has(part));
}

function isEnglish(text: string): boolean {
  return whole.has(text) || (/[a-z] [a-z]/.test(text) && withValues.some((pattern) => pattern.test(text)));
}
