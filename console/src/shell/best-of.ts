import { matchSorter } from "match-sorter";
import type { Command } from "./command.ts";

/**
 * The commands that match a text, best first: an exact match, then a prefix, then a prefix of a word, then any part. Every word of the
 * text must match. An empty text returns all commands unsorted.
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
