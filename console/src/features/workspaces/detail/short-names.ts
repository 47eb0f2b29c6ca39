const longChars = 16;

/**
 * Names for where there is little room. Where all that are long begin alike, their common beginning (up to the last sign
 * between words) is left out, so that they can be told apart; the whole names stand elsewhere.
 */
export function shortNames(names: readonly string[]): readonly string[] {
  const long = names.filter((name) => name.length > longChars);
  const shared = long.length < 2 ? 0 : sharedBeginning(long);
  return names.map((name) => (name.length > longChars && shared > 0 ? `…${name.slice(shared)}` : name));
}

function sharedBeginning([first = "", ...more]: readonly string[]): number {
  let length = first.length;
  for (const name of more) {
    let same = 0;
    while (same < length && name[same] === first[same]) same += 1;
    length = same;
  }
  const words = /^.*[-/._:]/.exec(first.slice(0, length))?.[0] ?? "";
  return words.length;
}
