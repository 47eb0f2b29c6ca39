import { matchSorter } from "match-sorter";
import type { Command } from "./command.ts";

/**
 * The commands that match a text, best first: an exact match, then a prefix, then a prefix of a word, then any part, then characters in
 * this order. Every word of the text must match, also the words of Chinese text, which has no spaces between them. An empty text returns
 * all commands unsorted.
 */
export function bestOf<Each extends Pick<Command, "label" | "detail" | "words">>(
  commands: readonly Each[],
  text: string,
  max: number,
): readonly Each[] {
  const words = wordsOf(text);
  const keys = [
    (command: Each) => command.label,
    {
      key: (command: Each) => [command.detail ?? "", command.words ?? ""],
      maxRanking: matchSorter.rankings.CONTAINS,
    },
  ];
  const strict = keys.map((key) =>
    typeof key === "function" ? key : { ...key, threshold: matchSorter.rankings.CONTAINS },
  );
  const fitting = words.reduce<readonly Each[]>((left, word) => {
    const threshold = word.length < fuzzyLength ? matchSorter.rankings.CONTAINS : matchSorter.rankings.MATCHES;
    return matchSorter(left, word, { keys: strict, threshold, sorter: (items) => items });
  }, commands);
  return (words.length === 0 ? commands : matchSorter(fitting, text.trim(), { keys, threshold: looseThreshold })).slice(
    0,
    max,
  );
}

const chineseWords = new Intl.Segmenter("zh", { granularity: "word" });

function wordsOf(text: string): readonly string[] {
  const words = text.split(/\s+/).filter(Boolean);
  return words.flatMap((word) => {
    if (!/\p{Script=Han}/u.test(word)) return [word];
    return [...chineseWords.segment(word)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
  });
}

/** Shorter words match only as they are. */
const fuzzyLength = 3;
/** Words of a name match separately; all matches are kept, the best first. */
const looseThreshold = matchSorter.rankings.NO_MATCH;
