/** The words of answers, each with the whitespace before it, so that they can be joined to the text. */
export const filler = words(" the quick brown fox jumps over the lazy dog and then it rests a while.");
export const thinkingPieces = words("First, what is being asked here?");
export const refusalPieces = words("I can't help with that.");

/** The demo's answer: it quotes the prompt and explains that it comes from the demo. */
export function demoPieces(prompt: string): readonly string[] {
  const echo = firstWords(prompt, echoWordsMax);
  if (echo.length === 0) return ["Hello!", ...demoTail];
  return ["You", " asked:", ...echo.map((word) => ` ${word}`), ...demoTail];
}

/** Splits text into pieces of a few characters, without splitting a character. */
export function inPieces(text: string): readonly string[] {
  return text.match(/[\s\S]{1,6}/gu) ?? [text];
}

const echoWordsMax = 24;
const echoCharactersMax = 400;

const demoTail = words(
  "\n\nThis is Sluice's offline demo: no provider was called and nothing was spent. " +
    "Everything else is real: your key was checked, limits were applied, and this call is in the ledger." +
    "\n\nFor real answers, add a provider: set OPENAI_API_KEY (or another vendor's key) and restart Sluice, " +
    "or add one in the console under Providers.",
);

/** Quotes the first words. Does not scan a long prompt further than needed. */
function firstWords(prompt: string, max: number): string[] {
  const all = prompt
    .slice(0, echoCharactersMax)
    .split(/\s+/, max + 1)
    .filter((word) => word !== "");
  if (all.length === 0) return [];
  const more = all.length > max || prompt.length > echoCharactersMax;
  const quoted = all.slice(0, max);
  quoted[0] = `"${quoted[0]}`;
  quoted[quoted.length - 1] += more ? ' ..."' : '"';
  return quoted;
}

function words(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}
