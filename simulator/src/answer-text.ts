/** The words of answers, in pieces with the white space before them, so that they join into the text. */
export const filler = words(" the quick brown fox jumps over the lazy dog and then it rests a while.");
export const thinkingPieces = words("First, what is being asked here?");
export const refusalPieces = words("I can't help with that.");

/** The demo's answer: it quotes the prompt and says where it comes from. */
export function demoPieces(prompt: string): readonly string[] {
  const echo = firstWords(prompt, echoWordsMax);
  if (echo.length === 0) return ["Hello!", ...demoTail];
  return ["You", " asked:", ...echo.map((word) => ` ${word}`), ...demoTail];
}

/** A few characters each, none cut in half. */
export function inPieces(text: string): readonly string[] {
  return text.match(/[\s\S]{1,6}/gu) ?? [text];
}

const echoWordsMax = 24;
const echoCharactersMax = 400;

const demoTail = words(
  "\n\nThis is Sluice's offline demo speaking: no provider was called and nothing was spent. " +
    "Everything else is real: your key was checked, limits were applied, and this call is in the ledger." +
    "\n\nFor real answers, give Sluice a provider: set OPENAI_API_KEY (or another vendor's key) and start it again, " +
    "or add one in the console, under Providers.",
);

/** The first words, quoted as a whole. Looks no further into a long prompt than it must. */
function firstWords(prompt: string, most: number): string[] {
  const found = prompt
    .slice(0, echoCharactersMax)
    .split(/\s+/, most + 1)
    .filter((word) => word !== "");
  if (found.length === 0) return [];
  const more = found.length > most || prompt.length > echoCharactersMax;
  const quoted = found.slice(0, most);
  quoted[0] = `"${quoted[0]}`;
  quoted[quoted.length - 1] += more ? ' ..."' : '"';
  return quoted;
}

function words(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}
