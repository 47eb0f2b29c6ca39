import { matchSorter } from "match-sorter";
import type { Command } from "./command.ts";

/**
 * The commands that fit a text, the best first: called exactly so, then beginning so, then with a word that begins so, then
 * holding it. Each word of the text has to fit. Without a text all of them, as they come.
 */
export function bestOf<Each extends Pick<Command, "label" | "detail">>(
  commands: readonly Each[],
  text: string,
  max: number,
): readonly Each[] {
  const words = text.split(/\s+/).filter(Boolean);
  const threshold = matchSorter.rankings.CONTAINS;
  const keys = [
    (command: Each) => command.label,
    { key: (command: Each) => command.detail ?? "", maxRanking: matchSorter.rankings.CONTAINS },
  ];
  const fitting = words.reduce<readonly Each[]>(
    (left, word) => matchSorter(left, word, { keys, threshold, sorter: (items) => items }).map((each) => each),
    commands,
  );
  return (words.length === 0 ? commands : matchSorter(fitting, text.trim(), { keys, threshold: looseThreshold })).slice(
    0,
    max,
  );
}

/** Words of a name match separately; all matches are kept, the best first. */
const looseThreshold = matchSorter.rankings.NO_MATCH;
